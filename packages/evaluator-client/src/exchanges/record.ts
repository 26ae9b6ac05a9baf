import { join } from "node:path";
import type { Fetch } from "../http/http-client.ts";
import type { Transport } from "../transports/transport.ts";
import {
  type AskedRequest,
  type Exchange,
  type ExchangeOptions,
  mapTexts,
  readAsked,
  readExchangeOptions,
} from "./exchange.ts";
import { findKey, findSecretIn, isSecretHeader } from "./find-secrets.ts";
import { requestDigest } from "./replay-ledger.ts";
import { emulatorHeader, readReply, RecordingError, writeExchange } from "./stored-exchange.ts";

type Request = Exchange["request"];

/** How exchanges are recorded. */
export interface RecordOptions extends ExchangeOptions {
  /** Sends to the service. @default the global fetch */
  fetch?: Fetch | undefined;
}

/**
 * Makes a transport that asks the service, with your key and at its price, and stores each exchange as
 * one JSON file for `replay`. A repeated call replaces its file. Failures that a retry may help (429,
 * 5xx) are not stored. If something looks like a key or a real person's address, nothing is written
 * and the call fails with a `RecordingError` that names the place.
 *
 * @param folder - The folder of the files; created if missing.
 * @throws {ConfigurationError} when an option is wrong or the key is missing.
 * @example
 * ```ts
 * const folder = new URL("./exchanges", import.meta.url);
 * const transport = process.env.RECORD ? record(folder) : replay(folder);
 * ```
 */
export function record(folder: string | URL, options: RecordOptions = {}): Transport {
  const { make, redact, path } = readExchangeOptions(folder, options);
  const { fetch: send = (url, init) => globalThis.fetch(url, init) } = options;

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    const askedRequest = readAsked(url, init, redact);
    const request = toStored(askedRequest);
    const keys = keysIn(askedRequest);
    const key = findKey(JSON.stringify(request), keys, emulatorHeader);
    const secret = key === null ? findSecretIn(request, "request") : `${key} in the request`;
    if (secret !== null)
      throw new RecordingError(`it holds ${secret}`, { consequence: "Nothing was sent." });
    const reply = await send(url, init);
    const { status, ok } = reply;
    if (status >= 500 || [408, 409, 425, 429].includes(status)) return reply;
    const { body, ...head } = await readReply(reply.clone(), keys, request);
    if (body === undefined && ok) return reply; // cut off
    const name = fileName(request);
    const redactedValue = mapTexts(body ?? null, (text) =>
      redact(text),
    ) as Exchange["response"]["body"];
    const response = { ...head, body: redactedValue };
    const description = `Answer of a service to ${name}.`;
    await writeExchange(join(path, `${name}.json`), { description, request, response }, new Date());
    return reply;
  }

  return make({ fetch });
}

/** Returns a request with only the headers of the wire. */
function toStored({ method, path, headers, body }: AskedRequest): Request {
  const keptEntries = Object.entries(headers).filter(
    ([name]) => name === "content-type" || (name.startsWith("ai-") && !isSecretHeader(name)),
  );
  return { method, path, headers: Object.fromEntries(keptEntries), body } as Request;
}

function keysIn({ headers }: AskedRequest): string[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    .flatMap(([, value]) => value.split(/\s+/));
}

/** Returns a file name from the question ids and the digest, so that the same request replaces its file. */
function fileName(request: Request): string {
  const { path, body } = request;
  const questions = (body as { questions?: object } | undefined)?.questions ?? {};
  const ids = Object.keys(questions);
  const words = ids.length > 0 ? ids : [path.slice(path.lastIndexOf("/") + 1)];
  const slug = words.map((word) => word.slice(0, 20).replace(/[^A-Za-z0-9_]+/g, "-")).join("-");
  return `${slug.slice(0, 60).replace(/^-+|-+$/g, "") || "exchange"}-${requestDigest(request).slice(0, 12)}`;
}

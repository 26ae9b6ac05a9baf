import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EvaluatorError } from "../errors.ts";
import type { Fetch } from "../http/http-client.ts";
import type { Transport } from "../transports/transport.ts";
import {
  type AskedRequest,
  type Exchange,
  type ExchangeOptions,
  mapTexts,
  readAsked,
  readExchangeOptions,
  toResponse,
} from "./exchange.ts";
import { findKey, findLeak, isSecretHeader, type LiveReply } from "./find-key.ts";
import { findSecretIn } from "./find-secrets.ts";
import { requestDigest } from "./replay-ledger.ts";
import { emulatorHeader, keepHeaders, modelOf, scrubResponse } from "./stored-response.ts";

// Shorter words, such as the "local" of an emulator, are no secret and occur in texts by chance.
const SHORTEST_KEY = 8;

/** An exchange could not be recorded or must not be; no file holds any part of it. */
export class RecordingError extends EvaluatorError {}

/** How exchanges are recorded. */
export interface RecordOptions extends ExchangeOptions {
  /** Sends to the service. @default the global fetch */
  fetch?: Fetch;
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
    const asked = readAsked(url, init, redact);
    const request = toStored(asked);
    const keys = keysIn(asked);
    const key = findKey(JSON.stringify(request), keys, emulatorHeader);
    const found = key === null ? findSecretIn(request, "request") : `${key} in the request`;
    checkPrivate(found, "Nothing was sent.");
    const answered = await send(url, init);
    const { status, headers } = answered;
    const reply: LiveReply = { status, headers, text: await answered.text() };
    const response = toStoredResponse(reply, redact);
    if (response !== null) {
      const publicText = `${JSON.stringify(request)} ${emulatorHeader}`;
      const leak = findLeak(reply, { keys, publicText }) ?? findSecretIn(response, "response");
      checkPrivate(leak, "The answer was not used.");
      await write(path, { request, response });
    }
    return toResponse(reply);
  }

  return make({ fetch });
}

/** Returns the response to store; null if a retry may help or the answer is cut off. */
function toStoredResponse(
  { status, headers, text }: LiveReply,
  redact: (text: string) => string,
): Exchange["response"] | null {
  if (status >= 500 || [408, 409, 425, 429].includes(status)) return null;
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    if (status < 300) return null;
  }
  const body = mapTexts(parsed, (each) => redact(each)) as Exchange["response"]["body"];
  return scrubResponse({ status, headers: keepHeaders(headers), body });
}

/** Returns a request with only the headers of the wire. */
function toStored({ method, path, headers, body }: AskedRequest): Exchange["request"] {
  const kept = Object.entries(headers).filter(
    ([name]) => name === "content-type" || (name.startsWith("ai-") && !isSecretHeader(name)),
  );
  return { method, path, headers: Object.fromEntries(kept), body } as Exchange["request"];
}

function keysIn({ headers }: AskedRequest): string[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    .flatMap(([, value]) => value.split(/\s+/))
    .filter((word) => word.length >= SHORTEST_KEY);
}

function checkPrivate(found: string | null, consequence: string): void {
  if (found === null) return;
  const message = `The exchange is not recorded: it holds ${found}. ${consequence} Ask with invented data (example.com is reserved for it), or pass an option "redact" that removes it to record and replay.`;
  throw new RecordingError(message);
}

async function write(folder: string, exchange: Pick<Exchange, "request" | "response">) {
  const { request, response } = exchange;
  const recordedAt = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const name = fileName(request);
  const file = {
    description: `Answer of a service to ${name}.`,
    provenance: { source: "live", recordedAt, model: modelOf(request, response) },
    request,
    response,
  };
  const path = join(folder, `${name}.json`);
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(unfinished, `${JSON.stringify(file, null, 2)}\n`);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new RecordingError(`The exchange is not recorded: ${path} cannot be written (${code}).`);
  }
}

/** Returns a file name from the question ids and the digest, so that the same request replaces its file. */
function fileName(request: Exchange["request"]): string {
  const { path, body } = request;
  const questions = (body as { questions?: object } | undefined)?.questions ?? {};
  const ids = Object.keys(questions);
  const words = ids.length > 0 ? ids : [path.slice(path.lastIndexOf("/") + 1)];
  const slug = words.map((word) => word.slice(0, 20).replace(/[^A-Za-z0-9_]+/g, "-")).join("-");
  return `${slug.slice(0, 60).replace(/^-+|-+$/g, "") || "exchange"}-${requestDigest(request).slice(0, 12)}`;
}

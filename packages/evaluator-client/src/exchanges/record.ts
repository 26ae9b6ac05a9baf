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
 * @param exchangesFolder - The folder of the files; created if missing.
 * @throws {ConfigurationError} when an option is wrong or the key is missing.
 * @example
 * ```ts
 * const folder = new URL("./exchanges", import.meta.url);
 * const transport = process.env.RECORD ? record(folder) : replay(folder);
 * ```
 */
export function record(exchangesFolder: string | URL, options: RecordOptions = {}): Transport {
  const { make, redact, path } = readExchangeOptions(exchangesFolder, options);
  const { fetch = (requestUrl, requestInit) => globalThis.fetch(requestUrl, requestInit) } =
    options;

  async function recordingFetch(requestUrl: string, requestInit: RequestInit): Promise<Response> {
    const askedRequest = readAsked(requestUrl, requestInit, redact);
    const request = toStored(askedRequest);
    const apiKeys = apiKeysIn(askedRequest);
    const foundKey = findKey(JSON.stringify(request), apiKeys, emulatorHeader);
    const secretPlace =
      foundKey === null ? findSecretIn(request, "request") : `${foundKey} in the request`;
    if (secretPlace !== null)
      throw new RecordingError(`it holds ${secretPlace}`, { consequence: "Nothing was sent." });
    const fetchResponse = await fetch(requestUrl, requestInit);
    const { status, ok } = fetchResponse;
    if (status >= 500 || [408, 409, 425, 429].includes(status)) return fetchResponse;
    const { body, ...responseHead } = await readReply(fetchResponse.clone(), apiKeys, request);
    if (body === undefined && ok) return fetchResponse; // cut off
    const exchangeName = fileName(request);
    const redactedValue = mapTexts(body ?? null, (bodyText) =>
      redact(bodyText),
    ) as Exchange["response"]["body"];
    const response = { ...responseHead, body: redactedValue };
    const description = `Answer of a service to ${exchangeName}.`;
    await writeExchange(
      join(path, `${exchangeName}.json`),
      { description, request, response },
      new Date(),
    );
    return fetchResponse;
  }

  return make({ fetch: recordingFetch });
}

/** Returns a request with only the headers of the wire. */
function toStored({ method, path, headers, body }: AskedRequest): Request {
  const keptEntries = Object.entries(headers).filter(
    ([headerName]) =>
      headerName === "content-type" ||
      (headerName.startsWith("ai-") && !isSecretHeader(headerName)),
  );
  return { method, path, headers: Object.fromEntries(keptEntries), body } as Request;
}

function apiKeysIn({ headers }: AskedRequest): string[] {
  return Object.entries(headers)
    .filter(([headerName]) => isSecretHeader(headerName))
    .flatMap(([, headerValue]) => headerValue.split(/\s+/));
}

/** Returns a file name from the question ids and the digest, so that the same request replaces its file. */
function fileName(request: Request): string {
  const { path, body } = request;
  const questions = (body as { questions?: object } | undefined)?.questions ?? {};
  const questionIds = Object.keys(questions);
  const nameWords = questionIds.length > 0 ? questionIds : [path.slice(path.lastIndexOf("/") + 1)];
  const nameSlug = nameWords
    .map((nameWord) => nameWord.slice(0, 20).replace(/[^A-Za-z0-9_]+/g, "-"))
    .join("-");
  return `${nameSlug.slice(0, 60).replace(/^-+|-+$/g, "") || "exchange"}-${requestDigest(request).slice(0, 12)}`;
}

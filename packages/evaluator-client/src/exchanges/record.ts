import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EvaluatorError } from "../errors.ts";
import type { Fetch } from "../http/http-client.ts";
import { isRecord, textAt } from "../questions/json.ts";
import type { Transport } from "../transports/transport.ts";
import {
  type AskedRequest,
  type Exchange,
  type ExchangeOptions,
  mapTexts,
  parseJson,
  readAsked,
  readExchangeOptions,
} from "./exchange.ts";
import { findKey, findSecretIn, isSecretHeader } from "./find-secrets.ts";
import { requestDigest } from "./replay-ledger.ts";

type Request = Exchange["request"];
type Answer = Exchange["response"];

// Shorter words, such as the "local" of an emulator, are no secret and occur in texts by chance.
const SHORTEST_KEY = 8;

const advice =
  'Ask with invented data (example.com is reserved for it), or pass an option "redact" that removes it to record and replay.';

/** An exchange could not be recorded or must not be; no file holds any part of it. */
export class RecordingError extends EvaluatorError {
  /** Such as "its body holds the key verbatim"; it repeats nothing of the exchange. */
  readonly reason: string;

  /** @param next - The consequence and the next step, in sentences. */
  constructor(reason: string, next = `The answer was not used. ${advice}`) {
    super(`The exchange is not recorded: ${reason}. ${next}`);
    this.reason = reason;
  }
}

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
    if (found !== null)
      throw new RecordingError(`it holds ${found}`, `Nothing was sent. ${advice}`);
    const reply = await send(url, init);
    const { status, ok } = reply;
    if (status >= 500 || [408, 409, 425, 429].includes(status)) return reply;
    const { body, ...head } = await readReply(reply.clone(), keys, request);
    if (body === undefined && ok) return reply; // cut off
    const name = fileName(request);
    const redacted = mapTexts(body ?? null, (text) => redact(text)) as Answer["body"];
    const response = { ...head, body: redacted };
    const description = `Answer of a service to ${name}.`;
    await writeExchange(join(path, `${name}.json`), { description, request, response }, new Date());
    return reply;
  }

  return make({ fetch });
}

/** Returns a request with only the headers of the wire. */
function toStored({ method, path, headers, body }: AskedRequest): Request {
  const kept = Object.entries(headers).filter(
    ([name]) => name === "content-type" || (name.startsWith("ai-") && !isSecretHeader(name)),
  );
  return { method, path, headers: Object.fromEntries(kept), body } as Request;
}

function keysIn({ headers }: AskedRequest): string[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    .flatMap(([, value]) => value.split(/\s+/))
    .filter((word) => word.length >= SHORTEST_KEY);
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

/** Marks an answer of the emulator, which is no live service. */
export const emulatorHeader = "x-evaluator-emulator";

const keptHeaders = new Set([
  "content-type",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-request-id",
  "x-typesafe-request-id",
  emulatorHeader,
]);

/**
 * Reads a service's reply, and returns its status, the headers that clients act on, and its parsed body:
 * undefined if it is not JSON.
 *
 * @param known - The request, or another JSON value without secrets: parts of a key in it do not count.
 * @throws {RecordingError} if any header or the body holds one of the keys, also in part or encoded.
 */
export async function readReply(reply: Response, keys: readonly string[], known: unknown) {
  const { status, headers } = reply;
  const text = await reply.text();
  const publicText = `${JSON.stringify(known)} ${emulatorHeader}`;
  const parts = [...headers].flatMap(([name, value]) => [
    ["the name of a header", name],
    [`its header ${name}`, value],
  ]);
  for (const [where, part = ""] of [...parts, ["its body", text]]) {
    const key = findKey(part, keys, publicText);
    if (key !== null) throw new RecordingError(`${where} holds ${key}`);
  }
  const kept = [...headers].filter(([name]) => keptHeaders.has(name));
  return { status, headers: Object.fromEntries(kept), body: parseJson(text) };
}

/**
 * Writes an exchange with a live service to a file, in place of an older one. The ids in its response that
 * belong to a request or an account are replaced. Creates the folder if it is missing.
 *
 * @throws {RecordingError} if the response looks private, or the file cannot be written.
 */
export async function writeExchange(
  path: string,
  exchange: Pick<Exchange, "description" | "request" | "response">,
  today: Date,
): Promise<void> {
  const { description, request } = exchange;
  const response = scrubResponse(exchange.response);
  const secret = findSecretIn(response, "response");
  if (secret !== null) throw new RecordingError(`it holds ${secret}`);
  const recordedAt = today.toISOString().slice(0, "YYYY-MM-DD".length);
  const provenance = { source: "live", recordedAt, model: modelOf(request, response) };
  const text = JSON.stringify({ description, provenance, request, response }, null, 2);
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(unfinished, `${text}\n`);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new RecordingError(`${path} cannot be written (${code})`, "The answer was not used.");
  }
}

/** Returns the model that answered, else the requested one (contract sections 2.5 and 2.6). */
function modelOf(request: Request, { body }: Answer): string {
  return (
    textAt(body, "model") ||
    textAt(body, "providerMetadata", "gateway", "routing", "canonicalSlug") ||
    request.headers["ai-model-id"] ||
    textAt(request.body, "model") ||
    "unknown"
  );
}

const serviceId = /\b(gen|req)_[0-9A-Za-z-]{8,}/g;
const idKey =
  /^(?:[\w-]+[-_])?(?:request|generation|trace|session|team|user|account|owner|org|organization|project|api_?key)[-_]?id$/i;

/** Numbers the ids that link a response to an account's logs: `gen_recorded0001`. Answers stay unchanged. */
export function scrubResponse({ status, headers, body }: Answer): Answer {
  const names = new Map<string, string>();
  const rename = (id: string) => {
    const prefix = /^(?:gen|req)_/.exec(id)?.[0] ?? "id_";
    const name = names.get(id) ?? `${prefix}recorded${String(names.size + 1).padStart(4, "0")}`;
    names.set(id, name);
    return name;
  };
  const scrubText = (text: string, key: string) =>
    idKey.test(key) ? rename(text) : text.replace(serviceId, rename);
  const scrubField = ([key, value]: [string, unknown]) => {
    if (key === "answers") return [key, value];
    // The id of a chat's answer.
    if (key === "id" && typeof value === "string") return [key, rename(value)];
    return [key, mapTexts(value, scrubText, key)];
  };
  return {
    status,
    headers: mapTexts(headers, scrubText) as Record<string, string>,
    body: isRecord(body)
      ? Object.fromEntries(Object.entries(body).map(scrubField))
      : (mapTexts(body, scrubText) as Answer["body"]),
  };
}

import { ConnectionError, InvalidResponseError } from "../errors.ts";
import { toBilling } from "./connection-failure.ts";

/** A response's headers by lower-case name; a list for a header that was repeated. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One HTTP response with its whole body read. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The decoded body; empty when an error status came with a body that cannot be read. */
  readonly text: string;
}

/** Takes a chunk of a body; while its promise is open, no more of the body is read. */
export type ChunkSink = (chunk: Uint8Array) => void | Promise<void>;

/** One HTTP response whose body is read as it arrives. */
export interface StreamedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: ResponseHeaders;
  /** Reads the decoded body once; an error of the sink ends the response. @throws TypeError if the connection breaks */
  readonly read: (sink: ChunkSink) => Promise<void>;
}

/** The largest response body that is read, decoded: 16 MiB. Chosen: no answer is nearly as large. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Returns whether a status means success (2xx). */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns a header by its lower-case name, else another one, or null; of several values the first. */
export function findHeader(
  { headers }: Pick<HttpResponse, "headers">,
  name: string,
  other = name,
): string | null {
  const value = headers[name] ?? headers[other];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Collects the chunks of a body, up to {@link MAX_BODY_BYTES}. */
export class BodyCollector {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** @throws InvalidResponseError when the body is over the limit. */
  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.#length > MAX_BODY_BYTES) throw bodyTooLarge();
    this.#chunks.push(chunk);
  }

  bytes(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return whole;
  }
}

/** Returns the error for a body over {@link MAX_BODY_BYTES}. */
export function bodyTooLarge(): InvalidResponseError {
  const message = `The response body is over ${MAX_BODY_BYTES} bytes; check that the base URL is an evaluation service.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-size" });
}

/** A response together with its parsed JSON body. */
export interface JsonResponse extends HttpResponse {
  /** The parsed body; undefined when an error status came without JSON. */
  readonly json: unknown;
}

/** Parses a body. @throws ConnectionError if a success is not JSON, InvalidResponseError if a key is repeated. */
export function toJsonResponse(
  response: HttpResponse,
  endpoint: Parameters<typeof toBilling>[0],
): JsonResponse {
  const { status, headers, text } = response;
  const json = parseJson(text);
  if (json === undefined && isSuccess(status)) throw unparseable(response, endpoint);
  // In a body of 1.3 kB counting takes 1 µs, and looking at each key 10 µs.
  if (isSuccess(status) && keyColons(text) !== countKeys([json])) checkKeys(text);
  return { status, headers, text, json };
}

/** Counts the colons that may follow a key: all that do, and a few in strings. */
function keyColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    const before = text[at - 1] as string;
    if (before === '"' || before <= " ") count += 1;
  }
  return count;
}

/** Counts the keys of all objects in a list; NaN if they are nested deeper than any answer. */
function countKeys(value: object, depth = 0): number {
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = items === value ? 0 : items.length;
  for (const item of items) {
    if (typeof item !== "object" || item === null) continue;
    count += depth < 50 ? countKeys(item, depth + 1) : Number.NaN;
  }
  return count;
}

/** @throws InvalidResponseError when an object in the text, which is JSON, has a key twice. */
function checkKeys(text: string): void {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    if (character !== '"') continue;
    const start = at;
    at = endOfString(text, start);
    colon.lastIndex = at + 1;
    if (!colon.test(text)) continue;
    const key = JSON.parse(text.slice(start, at + 1)) as string;
    const keys = open.at(-1) as Set<string>;
    if (keys.size === keys.add(key).size) {
      const message = `The response has the key ${JSON.stringify(key.slice(0, 60))} twice in one object, so one answer hides another. It is not used; report it to the service.`;
      throw new InvalidResponseError(message, { questionId: null, rule: "duplicate-key" });
    }
  }
}

const colon = /\s*:/y;

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/** Returns the value of a JSON text, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's own message quotes the body, so it goes no further
  }
}

function unparseable(
  { status, text }: HttpResponse,
  endpoint: Parameters<typeof toBilling>[0],
): ConnectionError {
  const what = text === "" ? "an empty body" : `${text.length} characters that are not whole JSON`;
  const { maybeBilled, note } = toBilling(endpoint);
  const message = `The service answered ${status} with ${what}${note}. Check the base URL if this repeats.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}

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
export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus <= 299;
}

/** Returns a header by its lower-case name, else another one, or null; of several values the first. */
export function findHeader(
  { headers }: Pick<HttpResponse, "headers">,
  headerName: string,
  otherName = headerName,
): string | null {
  const headerValue = headers[headerName] ?? headers[otherName];
  return (Array.isArray(headerValue) ? headerValue[0] : headerValue) ?? null;
}

/** Collects the chunks of a body, up to {@link MAX_BODY_BYTES}. */
export class BodyCollector {
  readonly #bodyChunks: Uint8Array[] = [];
  #byteLength = 0;

  /** @throws InvalidResponseError when the body is over the limit. */
  addChunk(bodyChunk: Uint8Array): void {
    this.#byteLength += bodyChunk.byteLength;
    if (this.#byteLength > MAX_BODY_BYTES) throw bodyTooLarge();
    this.#bodyChunks.push(bodyChunk);
  }

  joinBytes(): Uint8Array {
    const [firstChunk] = this.#bodyChunks;
    if (firstChunk !== undefined && this.#bodyChunks.length === 1) return firstChunk;
    const wholeBody = new Uint8Array(this.#byteLength);
    let writeOffset = 0;
    for (const bodyChunk of this.#bodyChunks) {
      wholeBody.set(bodyChunk, writeOffset);
      writeOffset += bodyChunk.byteLength;
    }
    return wholeBody;
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
  const parsedJson = parseJson(text);
  if (parsedJson === undefined && isSuccess(status)) throw unparseable(response, endpoint);
  // In a body of 1.3 kB counting takes 1 µs, and looking at each key 10 µs.
  if (isSuccess(status) && keyColons(text) !== countKeys([parsedJson])) checkKeys(text);
  return { status, headers, text, json: parsedJson };
}

/** Counts the colons that may follow a key: all that do, and a few in strings. */
function keyColons(jsonText: string): number {
  let colonCount = 0;
  for (let at = jsonText.indexOf(":"); at >= 0; at = jsonText.indexOf(":", at + 1)) {
    const previousCharacter = jsonText[at - 1] as string;
    if (previousCharacter === '"' || previousCharacter <= " ") colonCount += 1;
  }
  return colonCount;
}

/** Counts the keys of all objects in a list; NaN if they are nested deeper than any answer. */
function countKeys(jsonValue: object, nestingDepth = 0): number {
  const childValues: unknown[] = Array.isArray(jsonValue) ? jsonValue : Object.values(jsonValue);
  let keyCount = childValues === jsonValue ? 0 : childValues.length;
  for (const childValue of childValues) {
    if (typeof childValue !== "object" || childValue === null) continue;
    keyCount += nestingDepth < 50 ? countKeys(childValue, nestingDepth + 1) : Number.NaN;
  }
  return keyCount;
}

/** @throws InvalidResponseError when an object in the text, which is JSON, has a key twice. */
function checkKeys(jsonText: string): void {
  const openObjects: Set<string>[] = [];
  for (let at = 0; at < jsonText.length; at += 1) {
    const character = jsonText[at] as string;
    if (character === "{" || character === "[") openObjects.push(new Set());
    else if (character === "}" || character === "]") openObjects.pop();
    if (character !== '"') continue;
    const stringStart = at;
    at = endOfString(jsonText, stringStart);
    colonPattern.lastIndex = at + 1;
    if (!colonPattern.test(jsonText)) continue;
    const objectKey = JSON.parse(jsonText.slice(stringStart, at + 1)) as string;
    const objectKeys = openObjects.at(-1) as Set<string>;
    if (objectKeys.size === objectKeys.add(objectKey).size) {
      const message = `The response has the key ${JSON.stringify(objectKey.slice(0, 60))} twice in one object, so one answer hides another. It is not used; report it to the service.`;
      throw new InvalidResponseError(message, { questionId: null, rule: "duplicate-key" });
    }
  }
}

const colonPattern = /\s*:/y;

function endOfString(jsonText: string, stringStart: number): number {
  let at = stringStart + 1;
  while (jsonText[at] !== '"') at += jsonText[at] === "\\" ? 2 : 1;
  return at;
}

/** Returns the value of a JSON text, or undefined. */
export function parseJson(jsonText: string): unknown {
  try {
    return JSON.parse(jsonText);
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

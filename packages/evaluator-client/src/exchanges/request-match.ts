import { createHash } from "node:crypto";
import type { Exchange } from "./exchange.ts";
import { keyText } from "./secrets-in-json.ts";

/** A request as the client sent it, so that a test can check every header and byte. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** Lower-case name to value; `authorization` too, so keep real keys out of tests. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's text; empty when there is none. */
  readonly body: string;
}

/**
 * Returns the first way a request differs from an exchange's, or null when it matches: method, path
 * with query, the headers the exchange lists, and the JSON body. No value of the request is named.
 */
export function requestDifference(exchange: Exchange, request: RecordedRequest): string | null {
  const expected = exchange.request;
  const { pathname, search } = new URL(request.url);
  if (request.method !== expected.method) return "method differs";
  if (pathname + search !== expected.path) return "path or query differs";
  return (
    headerDifference(expected.headers, request.headers) ??
    bodyDifference(expected.body, request.body)
  );
}

function headerDifference(
  expected: Readonly<Record<string, string>>,
  actual: Readonly<Record<string, string>>,
): string | null {
  const name = Object.keys(expected).find((name) => actual[name] !== expected[name]);
  return name === undefined ? null : `header ${name} ${name in actual ? "differs" : "is missing"}`;
}

function bodyDifference(expected: Exchange["request"]["body"], text: string): string | null {
  if (expected === undefined) return text === "" ? null : "body is not empty";
  const actual = parseJson(text);
  return actual === undefined ? "body is not JSON" : firstDifference(expected, actual, "body");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const { isArray } = Array;

/**
 * Returns where two JSON values first differ, such as `body.state.from differs`, or null when they
 * are equal. Order of keys does not count. Values are never named: they may hold what a person wrote.
 */
export function firstDifference(expected: unknown, actual: unknown, path: string): string | null {
  if (!isObject(expected) || !isObject(actual) || isArray(expected) !== isArray(actual)) {
    return expected === actual ? null : `${path} differs`;
  }
  const pathOf = (key: string) => path + (isArray(actual) ? `.${key}` : keyText(key));
  const unseen = new Map<string, unknown>(Object.entries(actual));
  for (const [key, value] of Object.entries(expected)) {
    if (!unseen.has(key)) return `${pathOf(key)} is missing`;
    const difference = firstDifference(value, unseen.get(key), pathOf(key));
    if (difference !== null) return difference;
    unseen.delete(key);
  }
  const [unexpected] = unseen.keys();
  return unexpected === undefined ? null : `${pathOf(unexpected)} is unexpected`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Returns the digest, 64 hexadecimal digits, of what a request asks: method, path with query, the
 * model that the header `ai-model-id` names, and the JSON body, whatever the order of its keys.
 */
export function requestDigest({ method, path, headers, body }: AskedRequest): string {
  const text = canonicalJson([method, path, headers["ai-model-id"] ?? null, body ?? null]);
  return createHash("sha256").update(text).digest("hex");
}

/** What a digest is made of. */
interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Returns the digests of the exchanges that may answer a request: one may leave its model open. */
export function digestsToAnswer({ method, url, headers, body: text }: RecordedRequest): string[] {
  const { pathname, search } = new URL(url);
  const body = text === "" ? null : parseJson(text);
  if (body === undefined) return [];
  const path = pathname + search;
  return [headers, {}].map((headers) => requestDigest({ method, path, headers, body }));
}

function canonicalJson(value: unknown): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
  return `{${fields.join(",")}}`;
}

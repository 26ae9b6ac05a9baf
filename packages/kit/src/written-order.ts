import type { JsonPath } from "./exact-json.ts";

/** An object of a JSON text, and its keys in the order in which they are written. */
export interface SortedKeys {
  readonly path: JsonPath;
  readonly keys: readonly string[];
}

const NUMERIC_KEY = /"(?:\d|\\u003\d){1,10}"\s*:/;
const QUOTE = /\\.|"(\s*:)?/g;

/**
 * Returns the objects of a JSON text whose keys its parsed value lists in another order than the text: JavaScript
 * lists keys such as "3" first, in ascending order. The value must not be deep: each level is a call.
 */
export function findSortedKeys(text: string, value: unknown): readonly SortedKeys[] {
  if (!NUMERIC_KEY.test(text)) return [];
  return compareKeys(value, JSON.parse(withLetters(text)) as Container);
}

/** Returns JSON with a letter before each key, which no reader sorts. */
function withLetters(text: string): string {
  let copiedText = "";
  let end = 0;
  let start: number | null = null;
  for (const { 0: quote, 1: colon, index } of text.matchAll(QUOTE)) {
    if (quote.startsWith("\\")) continue;
    if (start !== null && colon !== undefined) {
      copiedText += `${text.slice(end, start)}k`;
      end = start;
    }
    start = start === null ? index + 1 : null;
  }
  return copiedText + text.slice(end);
}

type Container = Readonly<Record<string, unknown>>;

function compareKeys(value: unknown, markedValue: unknown, path: JsonPath = []): SortedKeys[] {
  if (typeof markedValue !== "object" || markedValue === null) return [];
  const isList = Array.isArray(markedValue);
  const writtenKeys = Object.keys(markedValue);
  const keys = isList ? writtenKeys : writtenKeys.map((key) => key.slice(1));
  const inner = writtenKeys.flatMap((key, at) => {
    const name = keys[at] ?? "";
    const place = [...path, isList ? at : name];
    return compareKeys((value as Container)[name], (markedValue as Container)[key], place);
  });
  const isSorted = Object.keys(value as Container).some((key, at) => key !== keys[at]);
  return isSorted ? [{ path, keys }, ...inner] : inner;
}

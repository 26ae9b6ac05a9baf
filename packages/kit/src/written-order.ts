import type { JsonPath } from "./exact-json.ts";

/** An object of a JSON text, and its keys in the order in which they are written. */
export interface SortedKeys {
  readonly path: JsonPath;
  readonly keys: readonly string[];
}

const NUMERIC_KEY = /"(?:\d|\\u003\d){1,10}"\s*:/;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * Returns the objects of a JSON text whose keys its parsed value lists in another order than the text: JavaScript
 * lists keys such as "3" first, in ascending order. The value must not be deep: each level is a call.
 */
export function findSortedKeys(text: string, value: unknown): readonly SortedKeys[] {
  if (!NUMERIC_KEY.test(text)) return [];
  // No key that begins with a letter is sorted.
  const marked = text.replace(STRING, (string: string, colon?: string) =>
    colon === undefined ? string : `"k${string.slice(1)}`,
  );
  return compareKeys(value, JSON.parse(marked) as Container);
}

type Container = Readonly<Record<string, unknown>>;

function compareKeys(value: unknown, marked: unknown, path: JsonPath = []): SortedKeys[] {
  if (typeof marked !== "object" || marked === null) return [];
  const isList = Array.isArray(marked);
  const written = Object.keys(marked);
  const keys = isList ? written : written.map((key) => key.slice(1));
  const inner = written.flatMap((key, at) => {
    const name = keys[at] ?? "";
    const place = [...path, isList ? at : name];
    return compareKeys((value as Container)[name], (marked as Container)[key], place);
  });
  const isSorted = Object.keys(value as Container).some((key, at) => key !== keys[at]);
  return isSorted ? [{ path, keys }, ...inner] : inner;
}

import type { JsonPath } from "./exact-json.ts";

/** An object of a JSON text, and its keys in the order in which they are written. */
export interface SortedKeys {
  readonly path: JsonPath;
  readonly keys: readonly string[];
}

const NUMERIC_KEY = /"(?:\d|\\u003\d){1,10}"\s*:/;
const QUOTE_OR_ESCAPE = /\\.|"(\s*:)?/g;

/**
 * Returns the objects of a JSON text whose keys its parsed value lists in another order than the text: JavaScript
 * lists keys such as "3" first, in ascending order. The value must not be deep: each level is a call.
 */
export function findSortedKeys(jsonText: string, parsedValue: unknown): readonly SortedKeys[] {
  if (!NUMERIC_KEY.test(jsonText)) return [];
  return compareKeys(parsedValue, JSON.parse(markKeys(jsonText)) as Container);
}

/** Returns JSON with a letter before each key, which no reader sorts. */
function markKeys(jsonText: string): string {
  let copiedText = "";
  let copiedEnd = 0;
  let stringStart: number | null = null;
  for (const { 0: quoteMatch, 1: keyColon, index: quoteIndex } of jsonText.matchAll(
    QUOTE_OR_ESCAPE,
  )) {
    if (quoteMatch.startsWith("\\")) continue;
    if (stringStart !== null && keyColon !== undefined) {
      copiedText += `${jsonText.slice(copiedEnd, stringStart)}k`;
      copiedEnd = stringStart;
    }
    stringStart = stringStart === null ? quoteIndex + 1 : null;
  }
  return copiedText + jsonText.slice(copiedEnd);
}

type Container = Readonly<Record<string, unknown>>;

function compareKeys(
  parsedValue: unknown,
  markedValue: unknown,
  path: JsonPath = [],
): SortedKeys[] {
  if (typeof markedValue !== "object" || markedValue === null) return [];
  const isMarkedList = Array.isArray(markedValue);
  const markedKeys = Object.keys(markedValue);
  const keys = isMarkedList ? markedKeys : markedKeys.map((markedKey) => markedKey.slice(1));
  const nestedKeys = markedKeys.flatMap((markedKey, keyIndex) => {
    const writtenKey = keys[keyIndex] ?? "";
    const nestedPath = [...path, isMarkedList ? keyIndex : writtenKey];
    return compareKeys(
      (parsedValue as Container)[writtenKey],
      (markedValue as Container)[markedKey],
      nestedPath,
    );
  });
  const isReordered = Object.keys(parsedValue as Container).some(
    (parsedKey, keyIndex) => parsedKey !== keys[keyIndex],
  );
  return isReordered ? [{ path, keys }, ...nestedKeys] : nestedKeys;
}

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Returns the first 16 hex digits of the SHA-256 of a value's JSON with sorted keys. */
export function jsonHash(jsonValue: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(jsonValue, sortKeys)))).slice(0, 16);
}

function sortKeys(_: string, jsonValue: unknown): unknown {
  if (typeof jsonValue !== "object" || jsonValue === null || Array.isArray(jsonValue))
    return jsonValue;
  return Object.fromEntries(
    Object.entries(jsonValue).toSorted(([firstKey], [secondKey]) =>
      firstKey < secondKey ? -1 : 1,
    ),
  );
}

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Returns the first 16 hex digits of the SHA-256 of a value's JSON with sorted keys. */
export function jsonHash(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(value, sortKeys)))).slice(0, 16);
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

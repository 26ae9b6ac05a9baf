import { stripVTControlCharacters } from "node:util";
import { isPlainAscii } from "./is-plain-ascii.ts";

// The two joiners stay: emoji families and several scripts are written with them.
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Gives text that is safe to print on one line: no escapes, controls, bidi marks or line breaks. */
export function plainText(text: string): string {
  if (isPlainAscii(text)) return text.replace(/ {2,}/g, " ").trim();
  return stripVTControlCharacters(text).replace(/\s+/gu, " ").replace(unprintable, "").trim();
}

/** Gives a path that is safe to print on one line, its spaces as they are. */
export function plainPath(path: string): string {
  return stripVTControlCharacters(path).replace(/\s/gu, " ").replace(unprintable, "");
}

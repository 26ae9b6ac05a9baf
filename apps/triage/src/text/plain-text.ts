import { stripVTControlCharacters } from "node:util";

// The two joiners stay: emoji families and several scripts are written with them.
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Gives text that is safe to print on one line: no escapes, controls, bidi marks or line breaks. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replace(/\s+/gu, " ").replace(unprintable, "").trim();
}

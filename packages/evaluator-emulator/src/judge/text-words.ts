import { stemmer } from "stemmer";
import { remember } from "./remember.ts";

const stem = remember(stemmer, { keyOf: (word) => word, capacity: 10_000 });
const wordPattern = /[\p{L}\p{N}]+|[$€£%?]/gu;

/**
 * The stemmed words of a text in order, case and accents folded.
 * A currency sign, a percent sign and a question mark count as words.
 */
export function textWords(text: string): string[] {
  const folded = text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase();
  return (folded.match(wordPattern) ?? []).map(stem);
}

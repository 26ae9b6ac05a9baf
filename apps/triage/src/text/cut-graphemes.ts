import { isPlainAscii } from "./is-plain-ascii.ts";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts text to at most so many characters as a reader counts them, never inside one. */
export function cutGraphemes(text: string, limit: number): string {
  if (isPlainAscii(text)) return text.slice(0, limit); // most text, in a fraction of the time
  let count = 0;
  for (const { index } of segmenter.segment(text)) {
    if (count === limit) return text.slice(0, index);
    count += 1;
  }
  return text;
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts text to at most so many characters as a reader counts them, never inside one. */
export function cutGraphemes(text: string, limit: number): string {
  let count = 0;
  for (const { index } of segmenter.segment(text)) {
    if (count === limit) return text.slice(0, index);
    count += 1;
  }
  return text;
}

const graphemes = /* @__PURE__ */ new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Cuts text to at most `maxCharacters` UTF-16 code units, without splitting what a reader sees as
 * one character; for texts that may be longer than the model reads (contract section 8).
 *
 * @example
 * ```ts
 * const state = { user_message: cutText(message, 20_000) };
 * ```
 */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const onTheEdge = graphemes.segment(text).containing(maxCharacters);
  return text.slice(0, onTheEdge?.index ?? 0);
}

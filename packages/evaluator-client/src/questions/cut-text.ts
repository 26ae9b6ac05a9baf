const graphemes = /* @__PURE__ */ new Intl.Segmenter("en", { granularity: "grapheme" });
const LONGEST_CHARACTER = 64;

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
  const start = graphemes.segment(text).containing(maxCharacters)?.index ?? 0;
  if (maxCharacters - start <= LONGEST_CHARACTER) return text.slice(0, start);
  // A pile of combining marks counts as one character, however long; only pairs stay whole in it.
  const splitsPair = (text.codePointAt(maxCharacters - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? maxCharacters - 1 : maxCharacters);
}

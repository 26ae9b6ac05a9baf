/** The first id of a token that is a short word; those below are characters. */
const firstWord = 2 ** 21;
const shortWord = /^ ?\w{1,3}$/;

/**
 * Returns the ids of a text's tokens: one for a short word with or without a space before it, else
 * one for each character, so that {@link tokenText} gives the text back.
 */
export function tokenIds(text: string): number[] {
  return shortWord.test(text)
    ? [packToken(text)]
    : Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
}

/** Returns the id of a token that is a short word; of another, its length, which no word has. */
export function packToken(token: string): number {
  if (!shortWord.test(token)) return token.length;
  let id = 0;
  for (const byte of Buffer.from(token)) id = id * 256 + byte;
  return firstWord + id;
}

/** Returns the text of tokens that are characters. */
export function tokenText(ids: readonly number[]): string {
  return ids.map((id) => (isCharacter(id) ? String.fromCodePoint(id) : "")).join("");
}

function isCharacter(id: number): boolean {
  return Number.isInteger(id) && id >= 0 && id <= 0x10_ff_ff;
}

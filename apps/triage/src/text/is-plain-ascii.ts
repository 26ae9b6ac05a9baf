const plainAscii = /^[ -~]*$/;

/** Says whether a text is of printable ASCII alone: one column a character, and nothing to clean. */
export function isPlainAscii(text: string): boolean {
  return plainAscii.test(text);
}

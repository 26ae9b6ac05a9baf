/** The longest message that is read, in UTF-16 code units (contract section 8). */
export const MAX_MESSAGE_LENGTH = 20_000;

/** Cuts a message to {@link MAX_MESSAGE_LENGTH}, one less where a surrogate pair would be split. */
export function cutMessage(message: string): string {
  const cut = message.slice(0, MAX_MESSAGE_LENGTH);
  const isSplit =
    /[\uD800-\uDBFF]$/.test(cut) && /^[\uDC00-\uDFFF]/.test(message.slice(cut.length));
  return isSplit ? cut.slice(0, -1) : cut;
}

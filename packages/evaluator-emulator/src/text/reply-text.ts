const longestEcho = 200;

/** The reply of the emulator's text models: says what it is, and what it was asked. */
export function replyText(question: string): string {
  const characters = Array.from(question.trim());
  const echo = characters.slice(0, longestEcho).join("");
  const rest = characters.length > longestEcho ? "…" : "";
  return `This reply comes from the local emulator, not from a language model. You asked: "${echo}${rest}"`;
}

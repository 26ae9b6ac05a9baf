// Answers and forwards, as programs in several languages mark them, and a list's own mark.
const marks =
  /(?:(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|res|enc)(?:\[\d{1,6}\])?\s?:|\[[^\]]{1,40}\])\s?/iuy;

/** Returns what two subjects of the same thread have in common. */
export function normaliseSubject(subject: string): string {
  const text = subject.normalize("NFKC").replace(/\s+/gu, " ").trim();
  marks.lastIndex = 0;
  let end = 0;
  while (marks.test(text)) end = marks.lastIndex;
  return text.slice(end).toLowerCase();
}

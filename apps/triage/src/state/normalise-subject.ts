// Answers and forwards, as programs in several languages mark them, and a list's own mark.
const marks =
  /^(?:(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|res|enc)(?:\[\d+\])?\s*:|\[[^\]]{1,40}\])\s*/iu;

/** Gives what two subjects of the same thread have in common. */
export function normaliseSubject(subject: string): string {
  let text = subject.normalize("NFKC").trim();
  for (let rest = text.replace(marks, ""); rest !== text; rest = text.replace(marks, "")) {
    text = rest;
  }
  return text.replace(/\s+/gu, " ").toLowerCase();
}

import type { Mail } from "../input/mail.ts";
import { plainText } from "../text/plain-text.ts";
import type { ImportedMail } from "./found-mail.ts";
import { toSnippet } from "./to-snippet.ts";

/**
 * Gives the input record of a mail (contract section 4.7), its day in UTC.
 *
 * @throws Error when it has no date that a record can hold.
 */
export function toMail({ id, date, from, subject, text }: ImportedMail): Mail {
  const day = date?.toISOString().slice(0, 10) ?? "";
  if (!/^\d{4}-/.test(day)) throw new Error("it has no usable date");
  return {
    id: id ?? "",
    date: day,
    from: plainText(from),
    subject: plainText(subject),
    snippet: toSnippet(text),
  };
}

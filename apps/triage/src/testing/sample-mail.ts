import type { Mail } from "../input/mail.ts";

/** Returns a mail that is fine in every field, apart from the fields given. */
export function sampleMail(fields: Partial<Mail> = {}): Mail {
  return {
    id: "m-1",
    date: "2026-11-02",
    from: "Northbank <alerts@northbank.example>",
    subject: "Your statement is ready",
    snippet: "The statement for October can be downloaded.",
    ...fields,
  };
}

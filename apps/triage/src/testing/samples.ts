export { recordingTransport, sampleResponse, sampleSetup } from "evaluator-runs/testing";
import { openMails } from "../input/mail-input.ts";
import type { Mail } from "../input/mail-schema.ts";

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

/** Reads all mails of an input file. */
export async function mailsOf(
  path: string,
  options?: Parameters<typeof openMails>[1],
): Promise<Mail[]> {
  const file = await openMails(path, options);
  const mails: Mail[] = [];
  for await (const { record } of file.records()) mails.push(record.mail);
  return mails;
}

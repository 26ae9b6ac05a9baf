export {
  type RecordingTransport,
  recordingTransport,
  sampleResponse,
  sampleSetup,
} from "evaluator-runs/testing";
import { MailFile, type MailFileOptions } from "../input/mail-file.ts";
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
export async function mailsOf(path: string, options?: MailFileOptions): Promise<Mail[]> {
  const mails: Mail[] = [];
  const file = await MailFile.open(path, options);
  for await (const { mail } of file.mails()) mails.push(mail);
  return mails;
}

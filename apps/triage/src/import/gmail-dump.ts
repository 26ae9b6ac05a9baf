import { z } from "zod";
import { readJsonRecords, toUtf8Chunks } from "evaluator-runs/source";
import { type ImportedMail, ImportProblem, type SourceFile } from "./found-mail.ts";
import { parseTime } from "./mail-dates.ts";
import { fileDay, parseMessage } from "./parse-message.ts";

const partSchema = z.looseObject({
  filename: z.string().optional(),
  mimeType: z.string().optional(),
  get parts() {
    return z.array(partSchema).optional();
  },
});
type GmailPart = z.infer<typeof partSchema>;

/** One message as the Gmail API gives it: with `payload.headers`, or `raw`. */
const messageSchema = z.looseObject({
  id: z.string().min(1),
  labelIds: z.array(z.string()).optional(),
  snippet: z.string().optional(),
  internalDate: z.union([z.string(), z.number()]).optional(),
  raw: z.string().optional(),
  payload: partSchema
    .extend({
      headers: z.array(z.looseObject({ name: z.string(), value: z.string() })).optional(),
    })
    .optional(),
});
type GmailMessage = z.infer<typeof messageSchema>;

/** Finds the messages of a Gmail API dump: an array, an object with `messages`, or one a line. */
export async function* gmailMails(file: SourceFile, chunks: AsyncIterable<Buffer>) {
  let number = 0;
  for await (const records of readJsonRecords(toUtf8Chunks(chunks), "messages")) {
    for (const record of records) {
      number += 1;
      const read = async () => {
        if ("problem" in record) throw new ImportProblem(`it ${record.problem}`);
        return await parseGmailMessage(record.value);
      };
      const arrived = fileDay(file);
      const source = { file: file.name, gmail: true } as const;
      yield { name: `${file.prefix}message ${number}`, source, arrived, read };
    }
  }
}

async function parseGmailMessage(json: unknown): Promise<ImportedMail> {
  const { data } = messageSchema.safeParse(json);
  if (data === undefined) throw new ImportProblem("it is not a message of the Gmail API");
  const { id, raw, payload = {}, snippet, labelIds: labels = null } = data;
  const bytes = raw === undefined ? headOf(payload) : Buffer.from(raw, "base64url");
  const mail = await parseMessage(bytes);
  const { date, received, extra } = mail;
  const keptAt = parseTime(new Date(Number(data.internalDate)).toJSON() ?? "");
  return {
    ...mail,
    id,
    // The sender's own day first, as in a mailbox; what Gmail keeps is a time in no zone.
    date: date ?? keptAt?.slice(0, 10) ?? null,
    received: received ?? keptAt,
    text: snippet ?? mail.text,
    labels,
    extra: raw === undefined ? { ...extra, attachments: attachmentsIn(payload) } : extra,
  };
}

/** Returns the headers of a message as a mail without a text. */
function headOf({ headers = [] }: NonNullable<GmailMessage["payload"]>): Buffer {
  const lines = headers.map(({ name, value }) => `${name}: ${value}`.replace(/[\r\n]+/g, " "));
  // A mail has at least one header.
  return Buffer.from(["X-Gmail:", ...lines, "", ""].join("\r\n"));
}

function attachmentsIn({
  filename = "",
  mimeType = "",
  parts = [],
}: GmailPart): ImportedMail["extra"]["attachments"] {
  const own = filename === "" ? [] : [{ name: filename, type: mimeType }];
  return [...own, ...parts.flatMap(attachmentsIn)];
}

import { z } from "zod";
import { type JsonRecord, readJsonRecords, toUtf8Chunks } from "evaluator-runs/source";
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

/** Messages, or threads with theirs. */
const threadSchema = z.looseObject({ messages: z.array(z.unknown()) });

/**
 * Finds the messages of a Gmail API dump, whose start is given: an array, an object with `messages`
 * or `threads`, or one a line; of a thread its messages.
 */
export async function* gmailMails(file: SourceFile, chunks: AsyncIterable<Buffer>, start: string) {
  let number = 0;
  for await (const records of readJsonRecords(toUtf8Chunks(chunks), listKeyIn(start))) {
    for (const record of Array.from(records).flatMap(listMessages)) {
      number += 1;
      const read = async () => {
        if ("problem" in record) throw new ImportProblem(`it ${record.problem}`);
        return await parseGmailMessage(record.value);
      };
      const arrivalTime = fileDay(file);
      const source = { file: file.name, gmail: true } as const;
      yield { name: `${file.prefix}message ${number}`, source, arrived: arrivalTime, read };
    }
  }
}

function listMessages(record: JsonRecord): JsonRecord[] {
  const { data } = threadSchema.safeParse("value" in record ? record.value : null);
  return data === undefined
    ? [record]
    : data.messages.map((value) => ({ line: record.line, value }));
}

// In a file of one thread a line, the first list is that of one thread.
function listKeyIn(start: string): string {
  const [first = ""] = start.split("\n", 1);
  const isLine = /^\{.*\}\s*$/.test(first) && start.length > first.length + 1;
  return isLine || /"threads"\s{0,9}:\s{0,9}\[/.test(start) ? "threads" : "messages";
}

async function parseGmailMessage(json: unknown): Promise<ImportedMail> {
  const { data } = messageSchema.safeParse(json);
  if (data === undefined) throw new ImportProblem("it is not a message of the Gmail API");
  const { id, raw, payload = {}, snippet, labelIds: labels = null } = data;
  if (Object.keys(data).every((key) => key === "id" || key === "threadId"))
    throw new ImportProblem("it is an id alone; get the message with users.messages.get");
  const bytes = raw === undefined ? toHead(payload) : Buffer.from(raw, "base64url");
  const mail = await parseMessage(bytes);
  const { date, received: receivedTime, extra } = mail;
  const keptAt = parseTime(new Date(Number(data.internalDate)).toJSON() ?? "");
  return {
    ...mail,
    id,
    // The sender's own day first, as in a mailbox; what Gmail keeps is a time in no zone.
    date: date ?? keptAt?.slice(0, 10) ?? null,
    received: receivedTime ?? keptAt,
    text: snippet ?? mail.text,
    labels,
    extra: raw === undefined ? { ...extra, attachments: attachmentsIn(payload) } : extra,
  };
}

/** Returns the headers of a message as a mail without a text. */
function toHead({ headers = [] }: NonNullable<GmailMessage["payload"]>): Buffer {
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

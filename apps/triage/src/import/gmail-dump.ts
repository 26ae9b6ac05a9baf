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
export async function* gmailMails(
  sourceFile: SourceFile,
  contentChunks: AsyncIterable<Buffer>,
  startText: string,
) {
  let messageNumber = 0;
  for await (const records of readJsonRecords(toUtf8Chunks(contentChunks), listKeyIn(startText))) {
    for (const jsonRecord of Array.from(records).flatMap(listMessages)) {
      messageNumber += 1;
      const parseMail = async () => {
        if ("problem" in jsonRecord) throw new ImportProblem(`it ${jsonRecord.problem}`);
        return await parseGmailMessage(jsonRecord.value);
      };
      const arrivalTime = fileDay(sourceFile);
      const source = { file: sourceFile.name, gmail: true } as const;
      yield {
        name: `${sourceFile.prefix}message ${messageNumber}`,
        source,
        arrived: arrivalTime,
        read: parseMail,
      };
    }
  }
}

function listMessages(jsonRecord: JsonRecord): JsonRecord[] {
  const { data } = threadSchema.safeParse("value" in jsonRecord ? jsonRecord.value : null);
  return data === undefined
    ? [jsonRecord]
    : data.messages.map((messageJson) => ({ line: jsonRecord.line, value: messageJson }));
}

// In a file of one thread a line, the first list is that of one thread.
function listKeyIn(startText: string): string {
  const [firstLine = ""] = startText.split("\n", 1);
  const isJsonLine = /^\{.*\}\s*$/.test(firstLine) && startText.length > firstLine.length + 1;
  return isJsonLine || /"threads"\s{0,9}:\s{0,9}\[/.test(startText) ? "threads" : "messages";
}

async function parseGmailMessage(messageJson: unknown): Promise<ImportedMail> {
  const { data } = messageSchema.safeParse(messageJson);
  if (data === undefined) throw new ImportProblem("it is not a message of the Gmail API");
  const { id, raw, payload = {}, snippet, labelIds = null } = data;
  if (Object.keys(data).every((fieldName) => fieldName === "id" || fieldName === "threadId"))
    throw new ImportProblem("it is an id alone; get the message with users.messages.get");
  const mailBytes = raw === undefined ? toHeaderBytes(payload) : Buffer.from(raw, "base64url");
  const parsedMail = await parseMessage(mailBytes);
  const { date, received: receivedTime, extra } = parsedMail;
  const storedTime = parseTime(new Date(Number(data.internalDate)).toJSON() ?? "");
  return {
    ...parsedMail,
    id,
    // The sender's own day first, as in a mailbox; what Gmail keeps is a time in no zone.
    date: date ?? storedTime?.slice(0, 10) ?? null,
    received: receivedTime ?? storedTime,
    text: snippet ?? parsedMail.text,
    labels: labelIds,
    extra: raw === undefined ? { ...extra, attachments: attachmentsIn(payload) } : extra,
  };
}

/** Returns the headers of a message as a mail without a text. */
function toHeaderBytes({ headers = [] }: NonNullable<GmailMessage["payload"]>): Buffer {
  const headerLines = headers.map(({ name, value }) =>
    `${name}: ${value}`.replace(/[\r\n]+/g, " "),
  );
  // A mail has at least one header.
  return Buffer.from(["X-Gmail:", ...headerLines, "", ""].join("\r\n"));
}

function attachmentsIn({
  filename = "",
  mimeType = "",
  parts = [],
}: GmailPart): ImportedMail["extra"]["attachments"] {
  const ownAttachments = filename === "" ? [] : [{ name: filename, type: mimeType }];
  return [...ownAttachments, ...parts.flatMap(attachmentsIn)];
}

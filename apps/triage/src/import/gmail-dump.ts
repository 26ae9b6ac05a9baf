import { decodeWords } from "postal-mime";
import { z } from "zod";
import { readJsonRecords, toUtf8Chunks } from "evaluator-runs/source";
import { type ImportedMail, ImportProblem, type MailDay } from "./found-mail.ts";
import { keptHeaders } from "./kept-headers.ts";
import { fileDay, parseDay, parseMessage, parseTime } from "./parse-message.ts";
import type { SourceFile } from "./source-files.ts";

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
      yield { name: `${file.prefix}message ${number}`, source, isCut: false, arrived, read };
    }
  }
}

async function parseGmailMessage(json: unknown): Promise<ImportedMail> {
  const { data } = messageSchema.safeParse(json);
  if (data === undefined) throw new ImportProblem("it is not a message of the Gmail API");
  const raw =
    data.raw === undefined ? null : await parseMessage(Buffer.from(data.raw, "base64url"));
  const keptAt = parseTime(new Date(Number(data.internalDate)).toJSON() ?? "");
  return {
    id: data.id,
    date: dateOf(data, raw?.date ?? null, keptAt),
    received:
      parseTime(header(data, "received").split(";").at(-1) ?? "") ?? raw?.received ?? keptAt,
    from: raw?.from ?? header(data, "from"),
    subject: raw?.subject ?? header(data, "subject"),
    text: data.snippet ?? raw?.text ?? "",
    labels: data.labelIds ?? null,
    headers: raw?.headers ?? keptHeaders((name) => headersOf(data, name)),
    extra: raw?.extra ?? {
      attachments: attachmentsIn(data.payload ?? {}),
      listId: header(data, "list-id"),
      authenticationResults: header(data, "authentication-results"),
    },
  };
}

function attachmentsIn({
  filename = "",
  mimeType = "",
  parts = [],
}: GmailPart): ImportedMail["extra"]["attachments"] {
  const own = filename === "" ? [] : [{ name: filename, type: mimeType }];
  return [...own, ...parts.flatMap(attachmentsIn)];
}

function header(message: GmailMessage, name: string): string {
  return decodeWords(headersOf(message, name)[0] ?? "");
}

function headersOf({ payload }: GmailMessage, name: string): string[] {
  const found = payload?.headers?.filter((header) => header.name.toLowerCase() === name) ?? [];
  return found.map(({ value }) => value);
}

// The sender's own day first, as in a mailbox; what Gmail keeps is a time in no zone.
function dateOf(message: GmailMessage, raw: MailDay | null, keptAt: string | null): MailDay | null {
  const written = parseDay(header(message, "date"));
  if (written !== null) return { day: written, basis: "header" };
  if (raw?.basis === "header") return raw;
  return keptAt === null ? raw : { day: keptAt.slice(0, 10), basis: "header" };
}

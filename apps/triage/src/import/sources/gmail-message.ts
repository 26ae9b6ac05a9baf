import { decodeWords } from "postal-mime";
import { z } from "zod";
import type { ImportedMail } from "../found-mail.ts";
import { parseMessage } from "../parse-message.ts";

/** One message as the Gmail API gives it: with `payload.headers`, or `raw`. */
const messageSchema = z.looseObject({
  id: z.string().min(1),
  labelIds: z.array(z.string()).optional(),
  snippet: z.string().optional(),
  internalDate: z.union([z.string(), z.number()]).optional(),
  raw: z.string().optional(),
  payload: z
    .looseObject({
      headers: z.array(z.looseObject({ name: z.string(), value: z.string() })).optional(),
    })
    .optional(),
});
type GmailMessage = z.infer<typeof messageSchema>;

/** Reads one message of a Gmail API dump. */
export async function parseGmailMessage(json: unknown): Promise<ImportedMail> {
  const { data } = messageSchema.safeParse(json);
  if (data === undefined) throw new Error("it is not a message of the Gmail API");
  const raw =
    data.raw === undefined ? null : await parseMessage(Buffer.from(data.raw, "base64url"));
  return {
    id: data.id,
    date: toDate(data) ?? raw?.date ?? null,
    from: raw?.from ?? header(data, "from"),
    subject: raw?.subject ?? header(data, "subject"),
    text: data.snippet ?? raw?.text ?? "",
    labels: data.labelIds ?? null,
  };
}

function header({ payload }: GmailMessage, name: string): string {
  const found = payload?.headers?.find((header) => header.name.toLowerCase() === name);
  return decodeWords(found?.value ?? "");
}

function toDate(message: GmailMessage): Date | null {
  const date = new Date(
    message.internalDate === undefined ? header(message, "date") : Number(message.internalDate),
  );
  return Number.isNaN(date.getTime()) ? null : date;
}

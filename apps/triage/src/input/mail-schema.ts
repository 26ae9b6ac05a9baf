import { z } from "zod";
import type { StateField } from "./state-fields.ts";

const advice = {
  id: "give every record its own id",
  date: "write it as YYYY-MM-DD",
  text: 'write it as text, "" for none',
};
// A day with a time after it; the zone stays unread, the day is the sender's.
const dayWithTime =
  /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)? ?(?:Z|UTC|[+-]\d\d:?\d\d)?$/i;

const sourceSchema = z.object({
  /** The file of the export, `/` between folders. */
  file: z.string().optional(),
  /** The byte at which the mail begins. */
  offset: z.int().min(0).optional(),
  /** Whether Gmail has the mail. */
  gmail: z.literal(true).optional(),
  /** The URL of the account on a server, without the folder. */
  account: z.string().optional(),
  folder: z.string().optional(),
  uidvalidity: z.int().min(1).optional(),
  uid: z.int().min(1).optional(),
});
/** The place of an imported mail in its mailbox or export; no model reads it. */
export type MailSource = z.infer<typeof sourceSchema>;

/** Headers that the list reads, and no model. */
const headersSchema = z.object({
  /** Without angle brackets, as are the `references`. */
  messageId: z.string().optional(),
  /** The mails that it answers: those of `References`, else the one of `In-Reply-To`. */
  references: z.array(z.string()).optional(),
  /** The first address. */
  replyTo: z.string().optional(),
  unsubscribe: z.stringFormat("link", /^(?:https|mailto):/i).optional(),
  /** Whether the page of `unsubscribe` takes one POST request without a question (RFC 8058). */
  oneClick: z.literal(true).optional(),
  /** Whether its plain text has other words than its HTML, which is shown: a mark of phishing. */
  textsDiffer: z.literal(true).optional(),
  /** The results of the receiving host, such as `pass`. */
  checks: z.partialRecord(z.enum(["spf", "dkim", "dmarc"]), z.string()).optional(),
});
/** See {@link Mail}. */
export type MailHeaders = z.infer<typeof headersSchema>;

const receivedSchema = z.iso
  .datetime({
    offset: true,
    error: "is no time; write 2026-11-02T09:00:00Z or leave it out",
  })
  .transform((time) => new Date(time).toISOString());

/**
 * One input record (contract section 4.7): a number as id is its text, a date with a time is its
 * day; fields it does not name are left out.
 */
export const mailSchema = z.object(
  {
    id: z.preprocess(idToText, textField(advice.id).min(1, `is empty; ${advice.id}`)),
    date: z.preprocess(
      dateToDay,
      textField(advice.date).pipe(z.iso.date(`is not a day of the calendar; ${advice.date}`)),
    ),
    from: textField(advice.text),
    subject: textField(advice.text),
    snippet: textField(advice.text),
    // Other programs use these names for other things, so an invalid value is left out.
    attachments: z
      .array(
        z.object({ name: z.string(), type: z.string() }, "is not an object; write { name, type }"),
        "is not a list; write [{ name, type }]",
      )
      .optional()
      .catch(undefined),
    list_id: z.string("is not text; write the List-Id header").optional().catch(undefined),
    authentication_results: z
      .string("is not text; write the Authentication-Results header")
      .optional()
      .catch(undefined),
    source: sourceSchema.optional().catch(undefined),
    headers: headersSchema.optional().catch(undefined),
    // The time of arrival, in UTC; no model reads it. Null means unknown.
    received: z.preprocess((time) => time ?? undefined, receivedSchema.optional()).optional(),
  },
  "is not an object; write { id, date, from, subject, snippet }",
);
/** See {@link mailSchema}. */
export type Mail = z.infer<typeof mailSchema>;
/** Each {@link StateField} that a record has. */
export type StateFields = Pick<Mail, StateField>;

// Beyond these, two different numbers can be one.
function idToText(id: unknown): unknown {
  return typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER ? String(id) : id;
}

function dateToDay(date: unknown): unknown {
  return typeof date === "string" ? (dayWithTime.exec(date)?.[1] ?? date) : date;
}

function textField(whatToDo: string) {
  return z.string({
    error: ({ input }) => `${input === undefined ? "is missing" : "is not text"}; ${whatToDo}`,
  });
}

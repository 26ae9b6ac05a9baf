import type { JsonObject } from "evaluator-client";
import type { RunRecord } from "evaluator-runs/source";
import { z } from "zod";

/** What an input record may have beside the contract's fields, for a model that is to read it. */
const stateFieldSchemas = {
  attachments: z.array(
    z.object({ name: z.string(), type: z.string() }, "is not an object; write { name, type }"),
    "is not a list; write [{ name, type }]",
  ),
  list_id: z.string("is not text; write the List-Id header"),
  authentication_results: z.string("is not text; write the Authentication-Results header"),
};

/** The name of a field that a state may have more. */
export type StateField = keyof typeof stateFieldSchemas;

/** Those names, in the order in which the fields stand in a state. */
export const stateFields = Object.keys(stateFieldSchemas) as readonly StateField[];

/** What a record has of them. */
export type StateFields = {
  readonly [TField in StateField]?: z.infer<(typeof stateFieldSchemas)[TField]> | undefined;
};

const advice = {
  id: "give every record an id of its own",
  date: "write it as YYYY-MM-DD",
  text: 'write it as text, "" when the mail has none',
};
// A day with a time after it; the zone stays unread, the day is the sender's.
const dayWithTime =
  /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)? ?(?:Z|UTC|[+-]\d\d:?\d\d)?$/i;

const sourceSchema = z.object({
  /** The file of the export, `/` between folders. */
  file: z.string(),
  /** Where the mail begins in it, in bytes. */
  offset: z.int().min(0).optional(),
  /** Whether Gmail has the mail. */
  gmail: z.literal(true).optional(),
});
/** Where an imported mail stands, which no model is told. */
export type MailSource = z.infer<typeof sourceSchema>;

const receivedSchema = z.iso
  .datetime({
    offset: true,
    error: "is no time; write it as 2026-11-02T09:00:00Z, or leave it out",
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
    // Fields of these names that somebody else wrote say something else.
    attachments: stateFieldSchemas.attachments.optional().catch(undefined),
    list_id: stateFieldSchemas.list_id.optional().catch(undefined),
    authentication_results: stateFieldSchemas.authentication_results.optional().catch(undefined),
    source: sourceSchema.optional().catch(undefined),
    // When the mail arrived, in UTC; no model is told. Null says that it is not known.
    received: z.preprocess((time) => time ?? undefined, receivedSchema.optional()).optional(),
  },
  "is not an object; write { id, date, from, subject, snippet }",
);
/** See {@link mailSchema}. */
export type Mail = z.infer<typeof mailSchema>;

/** Returns a function that lists the problems of a record's wanted fields, and of no others. */
export function stateFieldsCheck(wanted: readonly StateField[]): (record: unknown) => string[] {
  const shape = wanted.map((field) => [field, stateFieldSchemas[field].optional()]);
  const schema = z.object(Object.fromEntries(shape));
  return (record) => {
    const { error } = schema.safeParse(record);
    return error?.issues.map(({ path, message }) => [...path, message].join(" ")) ?? [];
  };
}

/** Returns the fields of a record that are wanted and that it has. */
export function pickStateFields(record: StateFields, wanted: readonly StateField[]): StateFields {
  const entries = wanted.map((field) => [field, record[field]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Returns the contract's four keys (section 4.7); names and order are input to the model (section 2.1). */
export function toState({ from, subject, date, snippet }: Mail): JsonObject {
  return { from, subject, date, snippet };
}

/** What a journal keeps of a mail beside its state: where it is, and when it was received. */
type MailNote = Partial<MailSource> & Pick<Mail, "received">;

/** Returns a mail as a record with the state that a function makes of it. */
export function toRecord(mail: Mail, toState: (mail: Mail) => JsonObject): MailRecord {
  const { id, source, received } = mail;
  const hasNote = source !== undefined || received !== undefined;
  return { id, mail, state: toState(mail), source: hasNote ? { ...source, received } : null };
}

/** A record that was read from a file of mails. */
export interface MailRecord extends RunRecord {
  readonly mail: Mail;
}

/** Returns the mail of a record: its state has all of it but the id and the note. */
export function mailOfRecord({ id, state, source }: RunRecord): Mail {
  const mail = { ...(state as Omit<Mail, "id">), id };
  if (source === null) return mail;
  const { received, file, ...place } = source as MailNote;
  return { ...mail, received, source: file === undefined ? undefined : { ...place, file } };
}

type MailDays = Pick<Mail, "date" | "received">;

/** Returns the day a mail was received, in UTC; the sender's day if that is not known. */
export function receivedDay({ date, received }: MailDays): string {
  return received?.slice(0, 10) ?? date;
}

const MS_PER_DAY = 86_400_000;
/** Zones and slow servers explain a difference of so many days. */
const USUAL_DAYS = 2;

/** Returns how far a mail's date is from the day it was received, in words; empty if it is near. */
export function describeDateGap(mail: MailDays): string {
  const day = receivedDay(mail);
  if (day === mail.date) return "";
  const ahead = (Date.parse(mail.date) - Date.parse(day)) / MS_PER_DAY;
  const days = Math.abs(ahead);
  if (!(days > USUAL_DAYS)) return "";
  const gap = days < 731 ? `${days} days` : `${Math.floor(days / 365.25)} years`;
  return `dated ${gap} ${ahead > 0 ? "ahead" : "behind"}`;
}

/** Returns the address in a sender such as `Ada <ada@example.com>`, in lower case; null when there is none. */
export function senderAddress(from: string): string | null {
  return addressesIn(from).at(-1) ?? null;
}

/** Returns every address in a text, in lower case. */
export function addressesIn(text: string): string[] {
  // Cut into words first: a pattern for a whole address begins anew at each character of a word.
  return text
    .split(/[\s<>"'(),:;=[\]]/u)
    .filter((word) => word.indexOf("@", 1) > 0 && word.lastIndexOf("@", word.length - 2) > 0)
    .map((address) => address.toLowerCase().replace(/\.$/, ""));
}

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

/** What is added to the state; a journal keeps these with a whole path. */
export const stateOptionsSchema = z.object({
  /** Whether anything is. */
  context: z.boolean().default(false),
  /** The day ages are counted to; null for today. */
  today: z.string().nullable().default(null),
  /** A file of known addresses as typed, or null. */
  contacts: z.string().nullable().default(null),
  /** What of a record is sent beside the contract's fields. */
  stateFields: z.array(z.enum(stateFields)).readonly().default([]),
});
/** See {@link stateOptionsSchema}. */
export type MailStateOptions = z.infer<typeof stateOptionsSchema>;

/** What the context adds to a state. */
export const contextKeys: readonly string[] = [
  "age_days",
  "repeat_count",
  "known_contact",
  "today",
  "sent_by_user",
];

/** Returns what a model read of a mail beside the contract's four fields. */
export function addedTo(
  state: Readonly<Record<string, unknown>>,
): readonly (readonly [key: string, value: unknown])[] {
  const keys = [...contextKeys, ...stateFields].filter((key) => state[key] !== undefined);
  return keys.map((key) => [key, state[key]]);
}

/** Returns the day it is where the program runs, `YYYY-MM-DD`. */
export function localDay(date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}

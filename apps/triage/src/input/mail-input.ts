import { hash } from "node:crypto";
import { resolve } from "node:path";
import { type CliContext, printable, readTextFile } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import {
  type InputOptions,
  openRecords,
  readJsonRecords,
  type RecordForm,
  type RecordInput,
  type RunRecord,
  toUtf8Chunks,
} from "evaluator-runs/source";
import { z } from "zod";
import { type Mail, mailSchema, type StateFields } from "./mail-schema.ts";
import { addressesIn, localDay, senderAddress } from "./mail.ts";
import { type StateField, toStateOptions } from "./state-fields.ts";

/**
 * Opens a file of mails as the input of a run, and checks all its records: JSON in UTF-8 or UTF-16,
 * as an array, under `mails`, or by line.
 *
 * @throws CliError that names the file and its problems, and quotes nothing from it.
 */
export async function openMails(path: string, options: InputOptions = {}) {
  const stateOptions = toStateOptions(options.state ?? {});
  const mails = await openRecords(path, mailForm(stateOptions), options);
  const toInput = (toMailState: (mail: Mail) => JsonObject) => {
    async function* records(limit?: number) {
      for await (const { index, record: mail } of mails.records(limit)) {
        yield { index, record: toRecord(mail, toMailState(mail)) };
      }
    }
    return {
      ...mails,
      records,
      async withState(context: CliContext): Promise<RecordInput> {
        return toInput(await chooseState(stateOptions, records(), context));
      },
    } satisfies RecordInput;
  };
  return toInput(toState);
}

/** Returns the contract's four keys (section 4.7); names and order are input to the model (section 2.1). */
function toState({ from, subject, date, snippet }: Mail): JsonObject {
  return { from, subject, date, snippet };
}

/** A record that was read from a file of mails. */
interface MailRecord extends RunRecord {
  readonly mail: Mail;
}

/** Returns a mail as a record with its state; the note is null if there is nothing to note. */
function toRecord(mail: Mail, state: JsonObject): MailRecord {
  const { id, source, received: receivedTime, headers } = mail;
  const hasNote = source !== undefined || receivedTime !== undefined || headers !== undefined;
  return {
    id,
    mail,
    state,
    source: hasNote ? { ...source, received: receivedTime, headers } : null,
  };
}

type MailStateOptions = ReturnType<typeof toStateOptions>;

const idSchema = z.looseObject({ id: mailSchema.shape.id });

function mailForm({ stateFields }: MailStateOptions): RecordForm<Mail> {
  // A wanted field of another form is a problem; the schema of a mail leaves it out.
  const shape = stateFields.map((field) => [field, mailSchema.shape[field].unwrap()]);
  const fields = z.object(Object.fromEntries(shape));
  return {
    split: (chunks) => readJsonRecords(toUtf8Chunks(chunks), "mails"),
    check(value) {
      const { data, error } = mailSchema.safeParse(value);
      const { issues = [] } = error ?? fields.safeParse(value).error ?? {};
      const problems = issues.map(({ path, message }) => [...path, message].join(" "));
      if (data !== undefined && problems.length === 0)
        return { id: data.id, record: data, problems };
      return { id: idSchema.safeParse(value).data?.id, record: null, problems };
    },
    note: "Import mail first: evaluator-triage import SOURCE inbox.json",
    adviceFor(file) {
      const source = file === "-" ? "FILE" : /\s/.test(file) ? JSON.stringify(file) : file;
      return printable`Import an mbox, a mail or an archive: evaluator-triage import ${source} inbox.json`;
    },
  };
}

type ToState = (mail: Mail) => JsonObject;
type MailRecords = AsyncIterable<{ readonly record: MailRecord }>;

/** Returns the function that makes the state of a mail: the contract's four keys, and more only on demand. */
async function chooseState(options: MailStateOptions, all: MailRecords, context: CliContext) {
  const toBase = options.context ? await chooseContext(options, all, context) : toState;
  return (mail: Mail) => ({ ...toBase(mail), ...pickStateFields(mail, options.stateFields) });
}

function pickStateFields(
  record: StateFields,
  wantedStateFields: readonly StateField[],
): StateFields {
  const entries = wantedStateFields.map((field) => [field, record[field]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

const MS_PER_DAY = 86_400_000;

/**
 * Adds the fields that the contract recommends (section 4.7) to the state: `age_days`;
 * `repeat_count`, the number of mails with the same sender and subject in the whole input, this one
 * included; `known_contact`. Also two facts that a model cannot know (section 1, rule 7): `today`,
 * and whether it is `sent_by_user`, if the user's addresses are known.
 */
async function chooseContext(
  { contacts, today: countedTo }: MailStateOptions,
  all: MailRecords,
  { cwd, env, clock, signal }: CliContext,
): Promise<ToState> {
  const own = new Set(addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? ""));
  // One address a line, a CSV or a vCard.
  const text = contacts === null ? "" : await readTextFile(resolve(cwd, contacts));
  const knownAddresses = new Set([...own, ...addressesIn(text)]);
  const today = countedTo ?? localDay(new Date(clock.epochNow()));
  const repeats = await countThreads(all, signal);
  return (mail) => {
    const address = senderAddress(mail.from) ?? "";
    return {
      ...toState(mail),
      age_days: Math.round((Date.parse(today) - Date.parse(mail.date)) / MS_PER_DAY),
      repeat_count: repeats.get(toThread(mail)) ?? 0,
      known_contact: knownAddresses.has(address),
      today,
      ...(own.size > 0 && { sent_by_user: own.has(address) }),
    };
  };
}

async function countThreads(all: MailRecords, signal: AbortSignal) {
  const counts = new Map<string, number>();
  for await (const { record } of all) {
    signal.throwIfAborted();
    const thread = toThread(record.mail);
    counts.set(thread, (counts.get(thread) ?? 0) + 1);
  }
  return counts;
}

// A digest needs less memory than the text.
function toThread({ from, subject }: Mail): string {
  const text = JSON.stringify([senderAddress(from) ?? from, normaliseSubject(subject)]);
  return hash("sha256", text, "base64url");
}

// Answers and forwards, as programs in several languages mark them, and a list's own mark.
const marks =
  /(?:(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|res|enc)(?:\[\d{1,6}\])?\s?:|\[[^\]]{1,40}\])\s?/iuy;

/** Returns what two subjects of the same thread have in common. */
function normaliseSubject(subject: string): string {
  const text = subject.normalize("NFKC").replace(/\s+/gu, " ").trim();
  marks.lastIndex = 0;
  let end = 0;
  while (marks.test(text)) end = marks.lastIndex;
  return text.slice(end).toLowerCase();
}

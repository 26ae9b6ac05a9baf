import { hash } from "node:crypto";
import { resolve } from "node:path";
import { type CliContext, readTextFile } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import type { MailFile } from "./mail-file.ts";
import type { Mail, MailStateOptions } from "./mail-schema.ts";
import { addressesIn, localDay, pickStateFields, senderAddress, toState } from "./mail.ts";

/** Returns the function that makes the state of a mail: the contract's four keys, and more only when asked for. */
export async function chooseState(
  run: MailStateOptions,
  input: MailFile,
  context: CliContext,
): Promise<ToState> {
  const toBase = run.context ? await chooseContext(run, input, context) : toState;
  const fields = run.stateFields;
  if (fields.length === 0) return toBase;
  return (mail) => ({ ...toBase(mail), ...pickStateFields(mail, fields) });
}

async function chooseContext(
  run: MailStateOptions,
  input: MailFile,
  { cwd, env, clock, signal }: CliContext,
): Promise<ToState> {
  const read = run.contacts === null ? [] : await readContacts(resolve(cwd, run.contacts));
  const own = new Set(addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? ""));
  const today = run.today ?? localDay(clock.today());
  const repeats = await RepeatCounts.of(input, signal);
  return toContextState({ today, repeats, own, contacts: new Set([...read, ...own]) });
}

/** Returns what the model reads about a mail. */
export type ToState = (mail: Mail) => JsonObject;

const MS_PER_DAY = 86_400_000;

/** What the model cannot know by itself. */
interface StateContext {
  /** The day ages are counted to, `YYYY-MM-DD`. */
  readonly today: string;
  /** Of all records of the input, those left out by a limit included. */
  readonly repeats: RepeatCounts;
  /** Addresses of known contacts and of the user, in lower case. */
  readonly contacts: ReadonlySet<string>;
  /** The user's own addresses; empty if they are not known. */
  readonly own: ReadonlySet<string>;
}

/**
 * Adds what the contract recommends (section 4.7) to the state: `age_days`; `repeat_count`, how
 * many records have the same sender and subject, this one included; `known_contact`. And what it
 * says a model cannot know (section 1, rule 7): `today`, and whether it is `sent_by_user`.
 */
function toContextState({ today, repeats, contacts, own }: StateContext): ToState {
  return (mail) => {
    const address = senderAddress(mail.from) ?? "";
    return {
      ...toState(mail),
      age_days: Math.round((Date.parse(today) - Date.parse(mail.date)) / MS_PER_DAY),
      repeat_count: repeats.count(mail),
      known_contact: contacts.has(address),
      today,
      ...(own.size > 0 && { sent_by_user: own.has(address) }),
    };
  };
}

/** How many mails have the same sender and subject. */
class RepeatCounts {
  readonly #counts = new Map<string, number>();

  /** Counts the mails of an input. */
  static async of(input: MailFile, signal: AbortSignal): Promise<RepeatCounts> {
    const repeats = new RepeatCounts();
    for await (const { mail } of input.mails()) {
      signal.throwIfAborted();
      const thread = threadOf(mail);
      repeats.#counts.set(thread, (repeats.#counts.get(thread) ?? 0) + 1);
    }
    return repeats;
  }

  /** Returns how many mails of the input are like this one of it. */
  count(mail: Mail): number {
    return this.#counts.get(threadOf(mail)) ?? 0;
  }
}

// A digest needs less memory than the text.
function threadOf({ from, subject }: Mail): string {
  const text = JSON.stringify([senderAddress(from) ?? from, normaliseSubject(subject)]);
  return hash("sha256", text, "base64url");
}

// Answers and forwards, as programs in several languages mark them, and a list's own mark.
const marks =
  /(?:(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|res|enc)(?:\[\d{1,6}\])?\s?:|\[[^\]]{1,40}\])\s?/iuy;

/** Returns what two subjects of the same thread have in common. */
export function normaliseSubject(subject: string): string {
  const text = subject.normalize("NFKC").replace(/\s+/gu, " ").trim();
  marks.lastIndex = 0;
  let end = 0;
  while (marks.test(text)) end = marks.lastIndex;
  return text.slice(end).toLowerCase();
}

/**
 * Reads every address of a file, in lower case: one a line, a CSV or a vCard export.
 *
 * @throws CliError when the file cannot be read.
 */
async function readContacts(path: string): Promise<ReadonlySet<string>> {
  const text = await readTextFile(path, "Check the path after --contacts.");
  return new Set(addressesIn(text));
}

import { hash } from "node:crypto";
import { DigestTable } from "../input/digest-table.ts";
import type { Mail } from "../input/mail.ts";
import { NumberList } from "../input/number-list.ts";
import type { MailFile } from "../input/mail-file.ts";
import { senderAddress } from "../input/sender-address.ts";
import { normaliseSubject } from "./normalise-subject.ts";
import { type ToState, toState } from "./to-state.ts";

const MS_PER_DAY = 86_400_000;
const THREAD_BYTES = 16;

/** What the model cannot know by itself. */
export interface StateContext {
  /** The day ages are counted to, `YYYY-MM-DD`. */
  readonly today: string;
  /** Of all records of the input, those left out by a limit included. */
  readonly repeats: RepeatCounts;
  /** Addresses of known contacts and of the user, in lower case. */
  readonly contacts: ReadonlySet<string>;
}

/**
 * Adds what the contract recommends (section 4.7) to the state: `age_days`; `repeat_count`, how
 * many records have the same sender and subject, this one included; `known_contact`.
 */
export function toContextState({ today, repeats, contacts }: StateContext): ToState {
  return (mail) => ({
    ...toState(mail),
    age_days: Math.round((Date.parse(today) - Date.parse(mail.date)) / MS_PER_DAY),
    repeat_count: repeats.count(mail),
    known_contact: contacts.has(senderAddress(mail.from) ?? ""),
  });
}

/** How many mails have the same sender and subject. */
export class RepeatCounts {
  readonly #threads = new DigestTable(THREAD_BYTES);
  readonly #counts = new NumberList();

  /** Counts the mails of an input. */
  static async of(input: MailFile, signal: AbortSignal): Promise<RepeatCounts> {
    const repeats = new RepeatCounts();
    for await (const { mail } of input.mails()) {
      signal.throwIfAborted();
      repeats.#counts.increase(repeats.#threads.add(threadOf(mail)));
    }
    return repeats;
  }

  /** Returns how many mails of the input are like this one of it. */
  count(mail: Mail): number {
    return this.#counts.at(this.#threads.add(threadOf(mail)));
  }
}

function threadOf({ from, subject }: Mail): Buffer {
  const text = JSON.stringify([senderAddress(from) ?? from, normaliseSubject(subject)]);
  return hash("sha256", text, "buffer").subarray(0, THREAD_BYTES);
}

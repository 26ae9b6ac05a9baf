import type { Mail } from "../input/mail.ts";
import { senderAddress } from "../input/sender-address.ts";
import { normaliseSubject } from "./normalise-subject.ts";
import { type ToState, toState } from "./to-state.ts";

const MS_PER_DAY = 86_400_000;

/** What the model cannot know by itself. */
export interface StateContext {
  /** The day ages are counted to, `YYYY-MM-DD`. */
  readonly today: string;
  /** All records of the input, those left out by a limit included. */
  readonly mails: readonly Mail[];
  /** Addresses of known contacts and of the user, in lower case. */
  readonly contacts: ReadonlySet<string>;
}

/**
 * Adds what the contract recommends (section 4.7) to the state: `age_days`; `repeat_count`, how
 * many records have the same sender and subject, this one included; `known_contact`.
 */
export function toContextState({ today, mails, contacts }: StateContext): ToState {
  const repeats = new Map<string, number>();
  for (const mail of mails) {
    const thread = threadOf(mail);
    repeats.set(thread, (repeats.get(thread) ?? 0) + 1);
  }
  return (mail) => ({
    ...toState(mail),
    age_days: Math.round((Date.parse(today) - Date.parse(mail.date)) / MS_PER_DAY),
    repeat_count: repeats.get(threadOf(mail)) ?? 1,
    known_contact: contacts.has(senderAddress(mail.from) ?? ""),
  });
}

function threadOf({ from, subject }: Mail): string {
  return JSON.stringify([senderAddress(from) ?? from, normaliseSubject(subject)]);
}

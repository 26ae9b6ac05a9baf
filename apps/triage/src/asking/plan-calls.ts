import type { Mail } from "../input/mail.ts";
import { callKey } from "../journal/call-key.ts";
import { type CallSetup, setupHash } from "../journal/call-setup.ts";
import type { CallStatus } from "../journal/journal.ts";
import type { ToState } from "../state/to-state.ts";

/** One mail, and where its answer is kept. */
export interface PlannedCall {
  /** Place in the input, from 0. */
  readonly index: number;
  readonly mail: Mail;
  readonly key: string;
  readonly status: CallStatus;
}

/** What the keys of the answers depend on. */
export interface PlanOptions extends CallSetup {
  readonly toState: ToState;
  /** Looks an answer up. */
  readonly statusOf: (key: string) => CallStatus;
}

/** Finds out for each mail, in input order, whether its answer is already there. */
export function planCalls(mails: readonly Mail[], options: PlanOptions): PlannedCall[] {
  const { toState, statusOf } = options;
  const setup = setupHash(options);
  const repeats = new Map<string, number>();
  return mails.map((mail, index) => {
    const state = JSON.stringify(toState(mail));
    const first = callKey(setup, state, 0);
    const repeat = repeats.get(first) ?? 0;
    repeats.set(first, repeat + 1);
    const key = repeat === 0 ? first : callKey(setup, state, repeat);
    return { index, mail, key, status: statusOf(key) };
  });
}

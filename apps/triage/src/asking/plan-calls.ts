import type { Mail } from "../input/mail.ts";
import { callKey } from "../journal/call-key.ts";
import { type CallSetup, setupHash } from "../journal/call-setup.ts";
import type { CallStatus } from "../journal/journal-reader.ts";
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
  /** Looks answers up, in order; where there is no journal, all are unknown. */
  readonly statusesOf: (keys: readonly string[]) => Promise<readonly CallStatus[]>;
}

/** Finds out for each mail, in input order, whether its answer is already there. */
export async function planCalls(
  mails: readonly Mail[],
  options: PlanOptions,
): Promise<PlannedCall[]> {
  const keys = keysOf(mails, options);
  const statuses = await options.statusesOf(keys);
  return mails.map((mail, index) => {
    const key = keys[index] as string;
    return { index, mail, key, status: statuses[index] ?? "unknown" };
  });
}

function keysOf(mails: readonly Mail[], options: PlanOptions): string[] {
  const setup = setupHash(options);
  const repeats = new Map<string, number>();
  return mails.map((mail) => {
    const state = JSON.stringify(options.toState(mail));
    const first = callKey(setup, state, 0);
    const repeat = repeats.get(first) ?? 0;
    repeats.set(first, repeat + 1);
    return repeat === 0 ? first : callKey(setup, state, repeat);
  });
}

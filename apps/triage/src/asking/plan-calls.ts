import { createHash } from "node:crypto";
import type { Questions } from "evaluator-client";
import type { Mail } from "../input/mail.ts";
import type { CallStatus } from "../journal/journal.ts";
import { journalKey } from "../journal/journal-key.ts";
import type { Service } from "../service.ts";
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
export interface PlanOptions {
  readonly toState: ToState;
  readonly questions: Questions;
  readonly service: Service;
  /** Looks an answer up. */
  readonly statusOf: (key: string) => CallStatus;
}

/** Finds out for each mail, in input order, whether its answer is already there. */
export function planCalls(mails: readonly Mail[], options: PlanOptions): PlannedCall[] {
  const { toState, questions, service, statusOf } = options;
  const repeats = new Map<string, number>();
  return mails.map((mail, index) => {
    const state = toState(mail);
    const hash = createHash("sha256").update(JSON.stringify(state)).digest("base64");
    const repeat = repeats.get(hash) ?? 0;
    repeats.set(hash, repeat + 1);
    const key = journalKey({ request: { state, questions }, service, repeat });
    return { index, mail, key, status: statusOf(key) };
  });
}

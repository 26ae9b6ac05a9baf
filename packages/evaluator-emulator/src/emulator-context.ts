import type { AccountBook } from "./accounts/account-book.ts";
import type { Judgement } from "./answers/judgement.ts";
import type { GenerationLog } from "./gateway/generation-log.ts";
import type { EvaluationInput } from "./questions/evaluation-input.ts";

/** What the routes of both sides work with. */
export interface EmulatorContext {
  readonly accounts: AccountBook;
  /** Text and evaluation calls that were answered, for `GET /v1/generation`. */
  readonly generations: GenerationLog;
  /** Answers one evaluation. */
  readonly answer: (input: EvaluationInput) => Judgement;
  /** The time in epoch milliseconds. */
  readonly clock: () => number;
  /** A new id of 26 letters and digits. */
  readonly nextId: () => string;
}

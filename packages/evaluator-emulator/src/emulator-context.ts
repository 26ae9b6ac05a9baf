import type { AccountBook } from "./accounts.ts";
import type { Judgement } from "./answers/judgement.ts";
import type { GenerationLog } from "./generations.ts";
import type { SpendLedger } from "./spend-report.ts";
import type { VendorGate } from "./vendor-limits.ts";
import type { EvaluationInput } from "./questions/question.ts";

/** What the routes of both sides work with. */
export interface EmulatorContext {
  readonly accounts: AccountBook;
  /** Text and evaluation calls that were answered, for `GET /v1/generation`. */
  readonly generations: GenerationLog;
  /** What all answered calls came to, for `GET /v1/report`. */
  readonly spending: SpendLedger;
  /** Counts the vendor's calls of each key; null where no limits are played. */
  readonly vendorGate: VendorGate | null;
  /** Answers one evaluation. */
  readonly answer: (input: EvaluationInput) => Judgement;
  /** The time in epoch milliseconds. */
  readonly clock: () => number;
  /** A new id of 26 letters and digits. */
  readonly nextId: () => string;
}

import type { CallEnd } from "../journal/journal.ts";
import { evaluationUsd, type Price } from "./price.ts";

/** What a run has come to so far; it counts what is on the disk. */
export class RunTotals {
  succeeded = 0;
  failed = 0;
  inputTokens = 0;
  costUsd = 0;
  readonly #price: Price;

  /** @param price - Counts for answers that do not say what they cost. */
  constructor(price: Price) {
    this.#price = price;
  }

  /** Counts a call that has ended. */
  add(end: CallEnd): void {
    if ("error" in end) {
      this.failed += 1;
      return;
    }
    this.succeeded += 1;
    this.inputTokens += end.evaluation.usage.inputTokens;
    this.costUsd += evaluationUsd(end.evaluation, this.#price);
  }
}

import type { EvaluatorError } from "evaluator-client";
import { FAILURES_IN_A_ROW } from "../store/run-store.ts";
import { endsRun } from "./evaluate-one.ts";

/** Detects that every further record would fail for the same reason. */
export class FailureStreak {
  #length = 0;
  #mostAtStart: number;
  /** The failure that ends the run; null as long as it may go on. */
  finalError: EvaluatorError | null = null;

  /** @param mostAtStart - The number of failures before the first answer that ends the run. */
  constructor(mostAtStart: number) {
    this.#mostAtStart = mostAtStart;
  }

  /** Counts a call: a wrong key, or a service that is down for many records in a row, ends the run. */
  ended(error: EvaluatorError | null): void {
    if (error === null) {
      [this.#length, this.#mostAtStart] = [0, Infinity];
      return;
    }
    this.#length += 1;
    const isDown = this.#length >= FAILURES_IN_A_ROW && error.isRetryable;
    const isUnable = this.#length >= this.#mostAtStart;
    if (endsRun(error) || isDown || isUnable) this.finalError ??= error;
  }
}

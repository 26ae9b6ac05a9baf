import { AuthenticationError, ConfigurationError, EvaluatorError } from "evaluator-client";

const FAILURES_IN_A_ROW = 20;

/** Notices when every further mail would fail for the same reason. */
export class FailureStreak {
  #length = 0;
  /** The failure that ends the run; null as long as it may go on. */
  finalError: EvaluatorError | null = null;

  /** An answer came. */
  succeeded(): void {
    this.#length = 0;
  }

  /** No answer came: the key is wrong, or the service is down for many mails in a row. */
  failed(error: unknown): void {
    if (!(error instanceof EvaluatorError)) return;
    this.#length += 1;
    const isOurs = error instanceof AuthenticationError || error instanceof ConfigurationError;
    const isDown = this.#length >= FAILURES_IN_A_ROW && error.isRetryable;
    if (isOurs || isDown) this.finalError ??= error;
  }
}

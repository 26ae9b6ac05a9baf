import type { Clock, TextSink } from "evaluator-cli-kit";
import {
  AuthenticationError,
  ConfigurationError,
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
} from "evaluator-client";
import { evaluationUsd, type Price } from "./cost.ts";

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

/** Keeps a run under the most it may cost. */
export class Budget {
  readonly #maxUsd: number;
  readonly #price: Price;
  #inFlight = 0;
  #answered = 0;
  #spentUsd = 0;
  /** Whether a request was held back. */
  isSpent = false;

  /** @param maxUsd - US dollars; Infinity for no bound. */
  constructor(maxUsd: number, price: Price) {
    this.#maxUsd = maxUsd;
    this.#price = price;
  }

  /** Whether one more request fits beside what is spent and what is in flight. */
  allows(nextRequest: () => EvaluationRequest): boolean {
    if (this.#maxUsd === Number.POSITIVE_INFINITY) return true;
    const { costUsd } = estimateCost([nextRequest()], this.#price);
    const perCall = Math.max(costUsd, this.#spentUsd / Math.max(1, this.#answered));
    const fits = this.#spentUsd + (this.#inFlight + 1) * perCall <= this.#maxUsd;
    if (fits) this.#inFlight += 1;
    else this.isSpent = true;
    return fits;
  }

  /** A request was answered. */
  answered(evaluation: Evaluation): void {
    this.#inFlight -= 1;
    this.#answered += 1;
    this.#spentUsd += evaluationUsd(evaluation, this.#price);
  }

  /** A request got no answer. */
  failed(): void {
    this.#inFlight -= 1;
  }
}

/** How long the calls in flight may go on after an interruption, in milliseconds. */
const DRAIN_MS = 10_000;

/** The end of calls in flight, some time after the interruption. */
export interface Drain {
  readonly signal: AbortSignal;
  /** Takes back all timers. */
  readonly release: () => void;
}

/** Gives the calls in flight some seconds after an interruption, so that what is paid for is kept. */
export function startDrain(
  interruption: AbortSignal,
  { clock, stderr }: { clock: Clock; stderr: TextSink },
): Drain {
  const drained = new AbortController();
  let cancel: (() => void) | null = null;
  const onAbort = () => {
    stderr.write("\nEnding: answers on their way are still kept. Ctrl-C again leaves at once.\n");
    cancel = clock.schedule(DRAIN_MS, () => drained.abort(interruption.reason));
  };
  interruption.addEventListener("abort", onAbort, { once: true });
  return {
    signal: drained.signal,
    release() {
      interruption.removeEventListener("abort", onAbort);
      cancel?.();
    },
  };
}

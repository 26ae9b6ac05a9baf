import { estimateCost, type Evaluation, type EvaluationRequest } from "evaluator-client";
import { evaluationUsd, type Price } from "./price.ts";

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

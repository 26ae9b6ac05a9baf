import {
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  type Transport,
} from "evaluator-client";
import { evaluationUsd, type Price } from "./cost.ts";

/** What a call is expected to cost by. */
export interface CallCost {
  readonly price: Price;
  readonly transport: Transport;
  /** What calls have cost so far. */
  readonly spent: { readonly calls: number; readonly usd: number };
}

/** Returns US dollars a call of some requests: as estimated, or as calls have cost where that is more. */
export function callUsd(
  requests: readonly EvaluationRequest[],
  { price, transport, spent }: CallCost,
): number {
  if (requests.length === 0) return 0;
  const inputUsdPerMillionTokens = price.inputUsdPerMillionTokens ?? 0;
  const { costUsd } = estimateCost(requests, { inputUsdPerMillionTokens, transport });
  return Math.max(costUsd / requests.length, spent.usd / Math.max(1, spent.calls));
}

/** Keeps a run under the most it may cost. */
export class Budget {
  readonly #maxUsd: number;
  readonly #price: Price;
  readonly #transport: Transport;
  #inFlight = 0;
  #answered = 0;
  #spentUsd = 0;
  /** Whether a request was held back. */
  isSpent = false;

  /** @param maxUsd - US dollars; Infinity for no bound. */
  constructor(maxUsd: number, { price, transport }: { price: Price; transport: Transport }) {
    this.#maxUsd = maxUsd;
    this.#price = price;
    this.#transport = transport;
  }

  /** Whether one more request fits beside what is spent and what is in flight. */
  allows(nextRequest: () => EvaluationRequest): boolean {
    if (this.#maxUsd === Number.POSITIVE_INFINITY) return true;
    const perCall = callUsd([nextRequest()], {
      price: this.#price,
      transport: this.#transport,
      spent: { calls: this.#answered, usd: this.#spentUsd },
    });
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

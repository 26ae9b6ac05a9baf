import { type BatchTotals, estimateCost, type EvaluationRequest } from "evaluator-client";
import { inputUsdPerMillionTokens } from "./price.ts";

/** Keeps a run under the most it may cost. */
export class Budget {
  readonly #maxUsd: number;
  #begun = 0;
  #totals: Readonly<BatchTotals> | null = null;
  /** Whether a request was held back. */
  isSpent = false;

  /** @param maxUsd - US dollars; Infinity for no bound. */
  constructor(maxUsd: number) {
    this.#maxUsd = maxUsd;
  }

  /** Watches what the run really costs. */
  watch(totals: Readonly<BatchTotals>): void {
    this.#totals = totals;
  }

  /** Whether one more request fits beside what is spent and what is in flight. */
  allows(request: EvaluationRequest): boolean {
    const { succeeded = 0, failed = 0 } = this.#totals ?? {};
    const spent = spentUsd(this.#totals);
    const { costUsd } = estimateCost([request], { inputUsdPerMillionTokens });
    const perCall = Math.max(costUsd, spent / Math.max(1, succeeded));
    const asIfInFlight = this.#begun - succeeded - failed + 1;
    const fits = spent + asIfInFlight * perCall <= this.#maxUsd;
    if (fits) this.#begun += 1;
    else this.isSpent = true;
    return fits;
  }
}

/** What answers have cost, in US dollars: what the service says, or by their tokens when that is more. */
export function spentUsd(totals: Readonly<BatchTotals> | null): number {
  if (totals === null) return 0;
  return Math.max(totals.costUsd, (totals.inputTokens * inputUsdPerMillionTokens) / 1_000_000);
}

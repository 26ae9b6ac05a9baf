import type { AnswerRoute, Evaluation as WholeEvaluation } from "evaluator-client";
import { printUsd } from "../amounts.ts";
import type { StepFacts } from "../run-facts.ts";
import { type RunPrice, tokensUsd } from "./price.ts";

/** An evaluation as an engine gave it, or as a journal keeps it. */
type Evaluation = Omit<WholeEvaluation, "raw">;

/** What one engine of a run did. */
type StepTotals = Omit<StepFacts, "name">;

type EndedCall = (
  | { readonly error: string; readonly paid?: Evaluation }
  | { readonly evaluation: Evaluation }
) & {
  /** The estimated cost of lost attempts. */
  readonly lostUsd?: number;
  /** Whether the call is as one that was not made, but for its cost. @default false */
  readonly isUnasked?: boolean;
};

/** The counts of a run so far; it counts calls that are on the disk. */
export class RunTotals {
  succeeded = 0;
  failed = 0;
  /** Why the newest failed call failed; null if none did. */
  failure: string | null = null;
  inputTokens = 0;
  costUsd = 0;
  #unpricedCount = 0;
  readonly #price: RunPrice;
  /** What each engine did. */
  readonly steps: StepTotals[] = [];

  /** @param price - Applies to answers without a cost. */
  constructor(price: RunPrice) {
    this.#price = price;
  }

  /** Whether there are answers of unknown cost. */
  get isUnpriced(): boolean {
    return this.#unpricedCount > 0;
  }

  /** Returns the total cost, for people. */
  describeCost(): string {
    return printUsd(this.isUnpriced ? null : this.costUsd);
  }

  /** Counts a call that has ended. */
  add(end: EndedCall): void {
    this.costUsd += end.lostUsd ?? 0;
    if (end.isUnasked) {
      // Only its cost counts.
    } else if ("error" in end) {
      this.failed += 1;
      this.failure = end.error;
    } else this.succeeded += 1;
    const paidEvaluation = "error" in end ? end.paid : end.evaluation;
    if (paidEvaluation !== undefined) this.#addPrice(paidEvaluation);
    if (!("error" in end) && !end.isUnasked) this.#addSteps(end.evaluation);
  }

  #addPrice(paidEvaluation: Evaluation): void {
    for (const [at, { usage }] of listSteps(paidEvaluation).entries()) {
      const usd = this.pricesOf(paidEvaluation)[at] ?? null;
      const step = this.#stepAt(at);
      this.inputTokens += usage?.inputTokens ?? 0;
      this.costUsd += usd ?? 0;
      step.records += 1;
      step.costUsd += usd ?? 0;
      step.isUnpriced ||= usd === null;
    }
    if (this.usdOf(paidEvaluation) === null) this.#unpricedCount += 1;
  }

  #addSteps({ answers, route = {} }: Evaluation): void {
    const routes: Readonly<Record<string, AnswerRoute>> = route;
    for (const id of Object.keys(answers)) {
      const { step: place = 1, isSure = null } = Object.hasOwn(routes, id)
        ? (routes[id] ?? {})
        : {};
      const step = this.#stepAt(place - 1);
      step.answers += 1;
      if (isSure === false) step.unsure += 1;
    }
    const failedAnswerRoute = Object.values(routes).find(({ failure }) => failure !== null);
    if (failedAnswerRoute === undefined) return;
    const step = this.#stepAt(1);
    step.failed += 1;
    step.failure = failedAnswerRoute.failure ?? "";
  }

  #stepAt(at: number): StepTotals {
    return (this.steps[at] ??= {
      records: 0,
      answers: 0,
      unsure: 0,
      costUsd: 0,
      isUnpriced: false,
      failed: 0,
    });
  }

  /** Returns the cost of an answer in US dollars: as reported, else by its tokens; null if unknown. */
  usdOf(paidEvaluation: Evaluation): number | null {
    const prices = this.pricesOf(paidEvaluation);
    return prices.reduce((sum, usd) => (sum === null || usd === null ? null : sum + usd), 0);
  }

  /** Returns the cost of the answer of each engine. */
  pricesOf(paidEvaluation: Evaluation): (number | null)[] {
    const { next = this.#price } = this.#price;
    return listSteps(paidEvaluation).map(({ costUsd, usage }, at) => {
      if (costUsd !== null || usage === null) return costUsd;
      const price = at === 0 ? this.#price : next;
      return price.inputUsdPerMillionTokens === null ? null : tokensUsd(usage.inputTokens, price);
    });
  }
}

function listSteps(evaluation: Evaluation): readonly Evaluation[] {
  return evaluation.steps ?? [evaluation];
}

/** Returns what each of two engines did; nothing of one alone. */
export function stepFacts({ steps }: RunTotals, names: readonly string[] | null): StepFacts[] {
  if (names === null || steps.length === 0) return [];
  const none = { records: 0, answers: 0, unsure: 0, costUsd: 0, isUnpriced: false, failed: 0 };
  return names.map((name, at) => Object.assign({ name }, steps[at] ?? none));
}

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

  /** @param runPrice - Applies to answers without a cost. */
  constructor(runPrice: RunPrice) {
    this.#price = runPrice;
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
  add(endedCall: EndedCall): void {
    this.costUsd += endedCall.lostUsd ?? 0;
    if (endedCall.isUnasked) {
      // Only its cost counts.
    } else if ("error" in endedCall) {
      this.failed += 1;
      this.failure = endedCall.error;
    } else this.succeeded += 1;
    const paidEvaluation = "error" in endedCall ? endedCall.paid : endedCall.evaluation;
    if (paidEvaluation !== undefined) this.#addPrice(paidEvaluation);
    if (!("error" in endedCall) && !endedCall.isUnasked) this.#addSteps(endedCall.evaluation);
  }

  #addPrice(paidEvaluation: Evaluation): void {
    for (const [stepIndex, { usage }] of listSteps(paidEvaluation).entries()) {
      const stepUsd = this.pricesOf(paidEvaluation)[stepIndex] ?? null;
      const stepTotals = this.#stepAt(stepIndex);
      this.inputTokens += usage?.inputTokens ?? 0;
      this.costUsd += stepUsd ?? 0;
      stepTotals.records += 1;
      stepTotals.costUsd += stepUsd ?? 0;
      stepTotals.isUnpriced ||= stepUsd === null;
    }
    if (this.usdOf(paidEvaluation) === null) this.#unpricedCount += 1;
  }

  #addSteps({ answers, route = {} }: Evaluation): void {
    const answerRoutes: Readonly<Record<string, AnswerRoute>> = route;
    for (const questionId of Object.keys(answers)) {
      const { step: stepNumber = 1, isSure = null } = Object.hasOwn(answerRoutes, questionId)
        ? (answerRoutes[questionId] ?? {})
        : {};
      const stepTotals = this.#stepAt(stepNumber - 1);
      stepTotals.answers += 1;
      if (isSure === false) stepTotals.unsure += 1;
    }
    const failedAnswerRoute = Object.values(answerRoutes).find(({ failure }) => failure !== null);
    if (failedAnswerRoute === undefined) return;
    const nextTotals = this.#stepAt(1);
    nextTotals.failed += 1;
    nextTotals.failure = failedAnswerRoute.failure ?? "";
  }

  #stepAt(stepIndex: number): StepTotals {
    return (this.steps[stepIndex] ??= {
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
    const stepPrices = this.pricesOf(paidEvaluation);
    return stepPrices.reduce((sum, usd) => (sum === null || usd === null ? null : sum + usd), 0);
  }

  /** Returns the cost of the answer of each engine. */
  pricesOf(paidEvaluation: Evaluation): (number | null)[] {
    const { next = this.#price } = this.#price;
    return listSteps(paidEvaluation).map(({ costUsd, usage }, stepIndex) => {
      if (costUsd !== null || usage === null) return costUsd;
      const price = stepIndex === 0 ? this.#price : next;
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
  const noTotals = { records: 0, answers: 0, unsure: 0, costUsd: 0, isUnpriced: false, failed: 0 };
  return names.map((name, stepIndex) => Object.assign({ name }, steps[stepIndex] ?? noTotals));
}

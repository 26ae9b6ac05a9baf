import {
  estimateCost,
  type EvaluationRequest,
  EvaluatorError,
  type Middleware,
  mostCostUsd,
  RefusalError,
  type Transport,
} from "evaluator-client";
import { billedAttempts } from "evaluator-client/budget";
import type { Price, RunPrice } from "./price.ts";

/** Keeps a run within its maximum cost: each attempt reserves the most that it may cost before it is sent. */
export class Budget {
  /** US dollars; Infinity for no limit. */
  maxUsd: number;
  /** The engines that a call may be paid to. */
  #engines: readonly (readonly [Price, Transport])[];
  readonly #onLost: (usd: number) => void;
  #spentUsd: number;
  #reservedUsd = 0;
  #inFlight = 0;
  /** Of these, the ones that wait for money to be tried again. */
  #waiting = 0;
  #freed = Promise.withResolvers<void>();
  /** The highest cost of an answer by the most that it was to cost, if a service counts other tokens; 1 at least. */
  factor = 1;
  /** Whether a request was held back. */
  isSpent = false;

  /**
   * @param maxUsd - US dollars; Infinity for no limit. `spentUsd`: by earlier tries of the run; `onLost` keeps
   * what a lost attempt may have cost, before the call is tried again.
   */
  constructor(
    maxUsd: number,
    from: {
      readonly price: RunPrice;
      readonly transport: Transport;
      /** The engine that is asked again. @default none */
      readonly next?: Transport | undefined;
      readonly spentUsd?: number;
      readonly onLost?: (usd: number) => void;
    },
  ) {
    this.maxUsd = maxUsd;
    const { price, transport, next } = from;
    this.#engines = [[price, transport]];
    if (next !== undefined)
      this.#engines = [
        [price, transport],
        [price.next ?? price, next],
      ];
    this.#spentUsd = from.spentUsd ?? 0;
    this.#onLost = from.onLost ?? (() => {});
  }

  /** Reserves an attempt of each engine; null if they might cost more than what is left. */
  reserve(request: EvaluationRequest): CallCost | null {
    const costs = this.#listCosts(request);
    const cost = new CallCost(this, costs);
    const mostUsd = costs.reduce((sum, one) => sum + one.mostUsd, 0);
    if (!this.take(cost, mostUsd)) return null;
    this.#inFlight += 1;
    return cost;
  }

  /** As {@link Budget.reserve}; a budget that is a part of another one may ask for more first. */
  async reserveCall(request: EvaluationRequest): Promise<CallCost | null> {
    return this.reserve(request);
  }

  /** The most that all calls until now may have cost, in US dollars. */
  get heldUsd(): number {
    return this.#spentUsd + this.#reservedUsd;
  }

  /** Returns the most that all calls until now and so many more attempts of this price may cost together. */
  protected wantedUsd(mostUsd: number, attempts: number): number {
    return this.heldUsd + attempts * mostUsd * this.factor;
  }

  /** Returns the most that an attempt of each engine may cost together. */
  protected mostUsdOf(request: EvaluationRequest): number {
    return this.#listCosts(request).reduce((sum, one) => sum + one.mostUsd, 0);
  }

  #listCosts(request: EvaluationRequest): AttemptCost[] {
    return this.#engines.map(([price, transport]) => {
      const engine = {
        inputUsdPerMillionTokens: price.inputUsdPerMillionTokens ?? 0,
        transport,
      };
      return {
        mostUsd: mostCostUsd(request, engine),
        get estimateUsd() {
          return estimateCost([request], engine).costUsd;
        },
      };
    });
  }

  /** Reserves one more attempt of a call that lost one, when other calls leave room for it; returns whether one did. */
  async takeRetry(cost: CallCost): Promise<boolean> {
    while (!cost.isEnded) {
      if (this.take(cost)) return true;
      this.#waiting += 1;
      const isLast = this.#waiting === this.#inFlight;
      if (!isLast) await this.#freed.promise;
      this.#waiting -= 1;
      if (isLast) break;
    }
    return false;
  }

  /** Reserves one more attempt of a call, of the dearer engine; returns whether it fits. */
  protected take(cost: CallCost, mostUsd = cost.mostUsd): boolean {
    const usd = mostUsd * this.factor;
    if (this.heldUsd + usd > this.maxUsd) return false;
    this.#reservedUsd += usd;
    cost.reservedUsd += usd;
    return true;
  }

  /** Keeps the cost of an attempt whose answer was lost, so that a process that is killed later has it. */
  noteLost(cost: CallCost): void {
    const usd = cost.mostUsd * this.factor;
    cost.notedUsd += usd;
    this.#onLost(usd);
  }

  /**
   * Ends the reservation of a call, and returns what it may have cost beside the lost attempts that are noted.
   *
   * @param answersUsd - The cost of the answer of each engine that answered; null if it is not known.
   */
  ended(cost: CallCost, answersUsd: readonly (number | null)[]): number {
    cost.isEnded = true;
    this.#inFlight -= 1;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
    this.#reservedUsd = this.#inFlight === 0 ? 0 : this.#reservedUsd - cost.reservedUsd;
    const attemptUsd = cost.mostUsd * this.factor;
    let usd = cost.lost * attemptUsd;
    for (const [step, answerUsd] of answersUsd.entries()) {
      const mostUsd = cost.mostOfEach[step] ?? cost.mostUsd;
      usd += answerUsd ?? mostUsd * this.factor;
      if (mostUsd > 0) this.factor = Math.max(this.factor, (answerUsd ?? 0) / mostUsd);
    }
    this.#spentUsd += usd;
    return usd - cost.notedUsd;
  }
}

/** What an attempt of an engine may cost; the estimate is counted when it is read, since few attempts are lost. */
type AttemptCost = Readonly<Record<"estimateUsd" | "mostUsd", number>>;

/** The cost of one call, while it is in flight. */
export class CallCost {
  readonly #budget: Budget;
  readonly #costs: readonly AttemptCost[];
  /** The most that an attempt may cost, of the dearer engine. */
  readonly mostUsd: number;
  /** The most that an attempt of each engine may cost. */
  readonly mostOfEach: readonly number[];
  /** Whether the call has ended, also if one of its attempts still waits for money. */
  isEnded = false;
  /** Whether an attempt was held back; the call is then as one that was not made, but for its cost. */
  isHeldBack = false;
  reservedUsd = 0;
  notedUsd = 0;
  #attempts = 1;
  #lostCount = 0;

  constructor(budget: Budget, costs: readonly AttemptCost[]) {
    this.#budget = budget;
    this.#costs = costs;
    this.mostOfEach = costs.map(({ mostUsd }) => mostUsd);
    this.mostUsd = Math.max(...this.mostOfEach);
  }

  /** The attempts that were lost and may have been charged for. */
  get lost(): number {
    return this.#lostCount;
  }

  /** The estimated cost of the lost attempts, of the dearer engine. */
  get lostUsd(): number {
    if (this.#lostCount === 0) return 0;
    return this.#lostCount * Math.max(...this.#costs.map(({ estimateUsd }) => estimateUsd));
  }

  /** Counts the lost attempts of the call, and holds back a retry that does not fit into the budget. */
  readonly middleware: Middleware = async (request, next, call) => {
    // The answers that a call has while another engine is asked count as lost, and are reserved.
    call.beforeAttempt(() => this.#reserveRetry(call.lostAttempts - call.elsewhere.answered));
    try {
      const evaluation = await next(request);
      this.#lostCount = call.lostAttempts;
      return evaluation;
    } catch (error) {
      // The rest of a refusal has its own price.
      const isPriced = error instanceof RefusalError && error.rest !== null;
      this.#lostCount = isPriced ? call.lostAttempts : billedAttempts(error, call);
      throw error;
    }
  };

  async #reserveRetry(lostAttempts: number): Promise<void> {
    if (lostAttempts < this.#attempts) return;
    if (await this.#budget.takeRetry(this)) {
      this.#attempts += 1;
      this.#budget.noteLost(this);
    } else {
      this.#budget.isSpent = true;
      this.isHeldBack = true;
      throw new EvaluatorError(
        "The call was not tried again: its lost attempts may have been charged for, and one more might pass the run's maximum cost; raise it.",
        { isRetryable: false },
      );
    }
  }
}

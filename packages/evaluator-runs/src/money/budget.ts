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

// Chosen: one statement for so many calls, while little of the run's maximum is held at once.
const CALLS_RESERVED = 16;

interface BudgetOptions {
  readonly price: RunPrice;
  readonly transport: Transport;
  /** The engine that is asked again. @default none */
  readonly next?: Transport | undefined;
  /** By earlier tries, in US dollars. @default 0 */
  readonly spentUsd?: number;
  /** Keeps what a lost attempt may have cost, before its call is tried again. */
  readonly onLost?: (usd: number) => void;
  /**
   * Resolves when calls have ended that may leave money for a retry; false if there are none.
   *
   * @default waits for the other calls of this budget
   */
  readonly waitForMoney?: () => Promise<boolean>;
  /** Reserves so many US dollars in a store, and returns the part that is left. @default the maximum is fixed */
  readonly reserveUsd?: (usd: number) => Promise<number>;
  /** {@link Budget.factor}, shared by the chunks of a worker. */
  readonly dearest?: { factor: number };
}

/**
 * Keeps a run within its maximum cost: each attempt reserves the most that it may cost before it is sent. A
 * run with other workers has its maximum in a store, which grants a part for a few calls at once.
 */
export class Budget {
  /** US dollars; Infinity for no limit. */
  #maxUsd: number;
  readonly #options: BudgetOptions;
  /** The engines that a call may be paid to. */
  readonly #engines: readonly (readonly [Price, Transport])[];
  #spentUsd: number;
  #reservedUsd = 0;
  #inFlight = 0;
  /** Of these, the ones that wait for money to be tried again. */
  #waiting = 0;
  #freed = Promise.withResolvers<void>();
  #asking: Promise<unknown> = Promise.resolve();
  /** The highest cost of an answer by the most that it was to cost, if a service counts other tokens; 1 at least. */
  factor = 1;
  /** Whether a request was held back. */
  isSpent = false;

  /** @param maxUsd - What the run, or a chunk before it asks the store, may cost, in US dollars; Infinity for no limit. */
  constructor(maxUsd: number, options: BudgetOptions) {
    const { price, transport, next, spentUsd = 0 } = options;
    this.#maxUsd = maxUsd;
    this.#options = options;
    this.#engines = [[price, transport], ...(next ? [[price.next ?? price, next] as const] : [])];
    this.#spentUsd = spentUsd;
  }

  /** Reserves an attempt of each engine; null if they might cost more than what is left. */
  async reserveCall(request: EvaluationRequest): Promise<CallCost | null> {
    const { dearest = this } = this.#options;
    this.factor = dearest.factor = Math.max(this.factor, dearest.factor);
    const costs = this.#listCosts(request);
    const mostUsd = costs.reduce((sum, one) => sum + one.mostUsd, 0);
    const cost = new CallCost(this, costs);
    const take = () => this.#take(cost, mostUsd);
    const isReserved = take() || (this.#isPart && (await this.#ask(mostUsd, take)));
    if (!isReserved) return null;
    this.#inFlight += 1;
    return cost;
  }

  /** Asks the store before further calls, and reserves those in flight: the run has a maximum from now on. */
  async limit(): Promise<void> {
    if (this.#maxUsd !== Infinity) return;
    this.#maxUsd = 0;
    await this.#ask(0, () => true);
  }

  /** Whether it is a part of a maximum that a store has. */
  get #isPart(): boolean {
    return this.#options.reserveUsd !== undefined;
  }

  /** The most that all calls until now may have cost, in US dollars. */
  get heldUsd(): number {
    return this.#spentUsd + this.#reservedUsd;
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

  /** Reserves one more attempt for a lost one; waits for the other calls, which may cost less than the most. */
  async takeRetry(cost: CallCost): Promise<boolean> {
    const { waitForMoney = () => this.#waitForOthers() } = this.#options;
    while (!cost.isEnded) {
      const take = () => this.#take(cost);
      if (take() || (this.#isPart && (await this.#ask(cost.mostUsd, take)))) return true;
      if (!(await waitForMoney())) break;
    }
    return false;
  }

  /** Reserves an attempt, by default of the dearer engine; returns whether it fits. */
  #take(cost: CallCost, mostUsd = cost.mostUsd): boolean {
    const usd = mostUsd * this.factor;
    // A call may end while its retry waits for the store.
    if (cost.isEnded || this.heldUsd + usd > this.#maxUsd) return false;
    this.#reservedUsd += usd;
    cost.reservedUsd += usd;
    return true;
  }

  /** Asks the store for attempts, one question after the other: the chunk has what the last reply grants. */
  #ask(mostUsd: number, take: () => boolean): Promise<boolean> {
    const { reserveUsd = async () => this.#maxUsd } = this.#options;
    const askedPromise = this.#asking.then(async () => {
      this.#maxUsd = await reserveUsd(this.heldUsd + CALLS_RESERVED * mostUsd * this.factor);
      return take();
    });
    this.#asking = askedPromise.catch(() => {});
    return askedPromise;
  }

  /** Waits until another call has ended; returns false if all of them wait. */
  async #waitForOthers(): Promise<boolean> {
    this.#waiting += 1;
    const isLast = this.#waiting === this.#inFlight;
    if (!isLast) await this.#freed.promise;
    this.#waiting -= 1;
    return !isLast;
  }

  /** Keeps the cost of an attempt whose answer was lost, so that a process that is killed later has it. */
  noteLost(cost: CallCost): void {
    const usd = cost.mostUsd * this.factor;
    cost.notedUsd += usd;
    this.#options.onLost?.(usd);
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
        "The call was not tried again: with its lost attempts it might pass the maximum cost; raise it.",
        { isRetryable: false },
      );
    }
  }
}

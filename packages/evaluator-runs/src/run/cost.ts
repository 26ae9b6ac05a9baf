import {
  type Catalog,
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
  RefusalError,
  type Middleware,
  mostCostUsd,
  type Transport,
} from "evaluator-client";
import { billedAttempts } from "evaluator-client/budget";
import { printUsd } from "../amounts.ts";
import { serviceOf } from "../service.ts";

/** The price of input; output is free (contract section 1, rule 11). */
export interface Price {
  /** US dollars; null if unknown. */
  readonly inputUsdPerMillionTokens: number | null;
  /** The origin of the price, for people. */
  readonly source: string;
}

/** The price in the contract. */
const contractPriceUsd = 0.042;

/** Returns the cost of input tokens in US dollars. */
export function tokensUsd(tokens: number, { inputUsdPerMillionTokens }: Price): number {
  return (tokens * (inputUsdPerMillionTokens ?? 0)) / 1_000_000;
}

/**
 * Returns the price of a model: as typed, from the gateway's list, else the contract's.
 *
 * @param from - `given`: US dollars for a million input tokens; `catalog`: null without a price list.
 */
export async function findPrice(from: {
  readonly given: number | undefined;
  readonly catalog: Catalog | null;
  readonly transport: Transport;
  readonly signal: AbortSignal;
}): Promise<Price> {
  const { given, catalog, transport, signal } = from;
  if (given !== undefined) return { inputUsdPerMillionTokens: given, source: "--price" };
  const { usdPerMillionTokens: known } = transport;
  if (known !== undefined)
    return { inputUsdPerMillionTokens: known, source: `the price of ${transport.name}` };
  const documented = documentedPrice(transport);
  if (documented.inputUsdPerMillionTokens === null || catalog === null) return documented;
  try {
    const models = await catalog.listModels({ signal });
    const { modelId } = serviceOf(transport);
    const listed = models.find(({ id }) => id === modelId)?.inputUsdPerMillionTokens ?? null;
    if (listed === null) return contractPrice("the documented price; the gateway lists none");
    return { inputUsdPerMillionTokens: listed, source: "the gateway's price list" };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    return contractPrice("the documented price; the gateway's list cannot be read");
  }
}

/** Returns the price of an engine in the contract; null for one that it does not have. */
export function documentedPrice(transport: Transport): Price {
  if (hasDocumentedPrice(transport)) return contractPrice("the documented price");
  return { inputUsdPerMillionTokens: null, source: "no list has this engine" };
}

// The hosts whose prices are in the contract; null for all.
const documentedHosts: Readonly<Record<string, readonly string[] | null>> = {
  gateway: null,
  direct: ["api.typesafe.ai"],
  logprobs: [],
  emulator: null, // the estimate is that of the service
};

/** Returns whether the contract has the price of an engine. */
function hasDocumentedPrice({ name, target }: Transport): boolean {
  const { [name]: hosts = [] } = documentedHosts;
  return hosts === null || (target !== undefined && hosts.includes(new URL(target.url).host));
}

function contractPrice(source: string): Price {
  return { inputUsdPerMillionTokens: contractPriceUsd, source };
}

/** Keeps a run within its maximum cost: each attempt reserves the most that it may cost before it is sent. */
export class Budget {
  readonly #maxUsd: number;
  readonly #price: Price;
  readonly #transport: Transport;
  readonly #onLost: (usd: number) => void;
  #spentUsd: number;
  #reservedUsd = 0;
  #inFlight = 0;
  /** The highest cost of an answer by the most that it was to cost, if a service counts other tokens; 1 at least. */
  #factor = 1;
  /** Whether a request was held back. */
  isSpent = false;

  /**
   * @param maxUsd - US dollars; Infinity for no limit. `spentUsd`: by earlier tries of the run; `onLost` keeps
   * what a lost attempt may have cost, before the call is tried again.
   */
  constructor(
    maxUsd: number,
    from: {
      readonly price: Price;
      readonly transport: Transport;
      readonly spentUsd?: number;
      readonly onLost?: (usd: number) => void;
    },
  ) {
    this.#maxUsd = maxUsd;
    this.#price = from.price;
    this.#transport = from.transport;
    this.#spentUsd = from.spentUsd ?? 0;
    this.#onLost = from.onLost ?? (() => {});
  }

  /** Whether calls are in flight, whose reservations may become free. */
  get isReserved(): boolean {
    return this.#inFlight > 0;
  }

  /** Reserves the first attempt of a call; null if it might cost more than what is left. */
  reserve(request: EvaluationRequest): CallCost | null {
    const inputUsdPerMillionTokens = this.#price.inputUsdPerMillionTokens ?? 0;
    const sent = { inputUsdPerMillionTokens, transport: this.#transport };
    const { costUsd: estimateUsd } = estimateCost([request], sent);
    const cost = new CallCost(this, { estimateUsd, mostUsd: mostCostUsd(request, sent) });
    if (!this.take(cost)) return null;
    this.#inFlight += 1;
    return cost;
  }

  /** Reserves one more attempt of a call; returns whether it fits. */
  take(cost: CallCost): boolean {
    const usd = cost.mostUsd * this.#factor;
    if (this.#spentUsd + this.#reservedUsd + usd > this.#maxUsd) return false;
    this.#reservedUsd += usd;
    cost.reservedUsd += usd;
    return true;
  }

  /** Keeps the cost of an attempt whose answer was lost, so that a process that is killed later has it. */
  noteLost(cost: CallCost): void {
    const usd = cost.mostUsd * this.#factor;
    cost.notedUsd += usd;
    this.#onLost(usd);
  }

  /**
   * Ends the reservation of a call, and returns what it may have cost beside the lost attempts that are noted.
   *
   * @param answerUsd - The cost of its answer: 0 if it has none, null if it is not known.
   */
  ended(cost: CallCost, answerUsd: number | null): number {
    this.#inFlight -= 1;
    this.#reservedUsd = this.#inFlight === 0 ? 0 : this.#reservedUsd - cost.reservedUsd;
    const attemptUsd = cost.mostUsd * this.#factor;
    const usd = (answerUsd ?? attemptUsd) + cost.lost * attemptUsd;
    this.#spentUsd += usd;
    if (cost.mostUsd > 0) this.#factor = Math.max(this.#factor, (answerUsd ?? 0) / cost.mostUsd);
    return usd - cost.notedUsd;
  }
}

/** The cost of one call, while it is in flight. */
export class CallCost {
  readonly #budget: Budget;
  /** The estimated cost of one attempt, and the most that it may cost. */
  readonly #estimateUsd: number;
  readonly mostUsd: number;
  reservedUsd = 0;
  notedUsd = 0;
  #attempts = 1;
  #lost = 0;

  constructor(budget: Budget, { estimateUsd, mostUsd }: Record<"estimateUsd" | "mostUsd", number>) {
    this.#budget = budget;
    this.#estimateUsd = estimateUsd;
    this.mostUsd = mostUsd;
  }

  /** The attempts that were lost and may have been charged for. */
  get lost(): number {
    return this.#lost;
  }

  /** The estimated cost of the lost attempts. */
  get lostUsd(): number {
    return this.#lost * this.#estimateUsd;
  }

  /** Counts the lost attempts of the call, and holds back a retry that does not fit into the budget. */
  readonly middleware: Middleware = async (request, next, call) => {
    call.beforeAttempt(() => this.#reserveRetry(call.lostAttempts));
    try {
      const evaluation = await next(request);
      this.#lost = call.lostAttempts;
      return evaluation;
    } catch (error) {
      // The rest of a refusal has its own price.
      const isPriced = error instanceof RefusalError && error.rest !== null;
      this.#lost = isPriced ? call.lostAttempts : billedAttempts(error, call);
      throw error;
    }
  };

  #reserveRetry(lostAttempts: number): void {
    if (lostAttempts < this.#attempts) return;
    if (this.#budget.take(this)) {
      this.#attempts += 1;
      this.#budget.noteLost(this);
    } else {
      this.#budget.isSpent = true;
      const message =
        "The call was not tried again: its lost attempts may have been charged for, and one more might pass the run's maximum cost, which is to be raised.";
      throw new EvaluatorError(message, { isRetryable: false });
    }
  }
}

type EndedCall = (
  | { readonly error: string; readonly paid?: Evaluation }
  | { readonly evaluation: Evaluation }
) & {
  /** The estimated cost of lost attempts. */
  readonly lostUsd?: number;
};

/** The counts of a run so far; it counts calls that are on the disk. */
export class RunTotals {
  succeeded = 0;
  failed = 0;
  /** Why the newest failed call failed; null if none did. */
  failure: string | null = null;
  inputTokens = 0;
  costUsd = 0;
  #unpriced = 0;
  readonly #price: Price;

  /** @param price - Applies to answers without a cost. */
  constructor(price: Price) {
    this.#price = price;
  }

  /** Whether there are answers of unknown cost. */
  get isUnpriced(): boolean {
    return this.#unpriced > 0;
  }

  /** Returns the total cost, for people. */
  describeCost(): string {
    return printUsd(this.isUnpriced ? null : this.costUsd);
  }

  /** Counts a call that has ended. */
  add(end: EndedCall): void {
    this.costUsd += end.lostUsd ?? 0;
    if ("error" in end) {
      this.failed += 1;
      this.failure = end.error;
    } else this.succeeded += 1;
    const paid = "error" in end ? end.paid : end.evaluation;
    if (paid !== undefined) this.#addPrice(paid);
  }

  #addPrice(paid: Evaluation): void {
    this.inputTokens += paid.usage?.inputTokens ?? 0;
    const usd = this.usdOf(paid);
    if (usd === null) this.#unpriced += 1;
    else this.costUsd += usd;
  }

  /** Returns the cost of an answer in US dollars: as reported, else by its tokens; null if unknown. */
  usdOf({ costUsd, usage }: Evaluation): number | null {
    if (costUsd !== null || usage === null) return costUsd;
    return this.#price.inputUsdPerMillionTokens === null
      ? null
      : tokensUsd(usage.inputTokens, this.#price);
  }

  /** Returns the expected cost of a call in US dollars: the estimate, or the average so far if that is more. */
  callUsd(requests: readonly EvaluationRequest[], transport: Transport): number {
    if (requests.length === 0) return 0;
    const inputUsdPerMillionTokens = this.#price.inputUsdPerMillionTokens ?? 0;
    const { costUsd } = estimateCost(requests, { inputUsdPerMillionTokens, transport });
    return Math.max(costUsd / requests.length, this.costUsd / Math.max(1, this.succeeded));
  }
}

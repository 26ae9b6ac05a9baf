import {
  type Catalog,
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
  type Transport,
} from "evaluator-client";
import { printUsd } from "../amounts.ts";
import type { CallEnd } from "../journal/journal.ts";

/** What input costs; output is free (contract section 1, rule 11). */
export interface Price {
  /** US dollars; null when nobody says. */
  readonly inputUsdPerMillionTokens: number | null;
  /** Where that is from, as a person reads it. */
  readonly source: string;
}

/** The price that the contract names. */
const contractPriceUsd = 0.042;

/** Returns what an answer has cost in US dollars: what the service says, else by its tokens. */
export function evaluationUsd({ costUsd, usage }: Evaluation, price: Price): number {
  return costUsd ?? tokensUsd(usage.inputTokens, price);
}

/** Returns US dollars for so many input tokens. */
export function tokensUsd(tokens: number, { inputUsdPerMillionTokens }: Price): number {
  return (tokens * (inputUsdPerMillionTokens ?? 0)) / 1_000_000;
}

/** Stands in for an amount. */
export const noKnownPrice = "no known price";

/** Where a model's price can be looked up. */
export interface PriceSource {
  /** US dollars a million input tokens, as a person said; null when nobody did. */
  readonly given: number | null;
  /** The gateway's price list; null when the model is not reached through it. */
  readonly catalog: Catalog | null;
  /** Whether the contract says what the model costs. */
  readonly isDocumented: boolean;
  readonly modelId: string;
  /** Ends the look-up. */
  readonly signal: AbortSignal;
}

/** Returns a model's price: as given, from the gateway's list, else the contract's; says which it is. */
export async function findPrice(from: PriceSource): Promise<Price> {
  const { given, catalog, isDocumented, modelId, signal } = from;
  if (given !== null) return { inputUsdPerMillionTokens: given, source: "--price" };
  if (!isDocumented) return { inputUsdPerMillionTokens: null, source: "no list has this engine" };
  if (catalog === null) return contractPrice("the documented price");
  try {
    const models = await catalog.listModels({ signal });
    const listed = models.find(({ id }) => id === modelId)?.inputUsdPerMillionTokens ?? null;
    if (listed === null) return contractPrice("the documented price; the gateway lists none");
    return { inputUsdPerMillionTokens: listed, source: "the gateway's price list" };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    return contractPrice("the documented price; the gateway's list cannot be read");
  }
}

function contractPrice(source: string): Price {
  return { inputUsdPerMillionTokens: contractPriceUsd, source };
}

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

/** What a run has come to so far; it counts what is on the disk. */
export class RunTotals {
  succeeded = 0;
  failed = 0;
  inputTokens = 0;
  costUsd = 0;
  readonly #price: Price;

  /** @param price - Counts for answers that do not say what they cost. */
  constructor(price: Price) {
    this.#price = price;
  }

  /** Whether there are answers of which nobody says what they cost. */
  get isUnpriced(): boolean {
    const { inputUsdPerMillionTokens } = this.#price;
    return inputUsdPerMillionTokens === null && this.succeeded > 0 && this.costUsd === 0;
  }

  /** Returns what all of it has cost, as a person reads it. */
  describeCost(): string {
    return this.isUnpriced ? noKnownPrice : printUsd(this.costUsd);
  }

  /** Counts a call that has ended. */
  add(end: CallEnd): void {
    if ("error" in end) {
      this.failed += 1;
      return;
    }
    this.succeeded += 1;
    this.inputTokens += end.evaluation.usage.inputTokens;
    this.costUsd += evaluationUsd(end.evaluation, this.#price);
  }
}

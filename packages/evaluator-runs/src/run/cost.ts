import {
  type Catalog,
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
  type Transport,
} from "evaluator-client";
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
  if (!hasDocumentedPrice(transport))
    return { inputUsdPerMillionTokens: null, source: "no list has this engine" };
  if (catalog === null) return contractPrice("the documented price");
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

/** Keeps a run within its maximum cost. */
export class Budget {
  readonly #maxUsd: number;
  readonly #transport: Transport;
  readonly #spent: RunTotals;
  #inFlight = 0;
  /** Whether a request was held back. */
  isSpent = false;

  /** @param maxUsd - US dollars; Infinity for no limit. */
  constructor(maxUsd: number, { price, transport }: { price: Price; transport: Transport }) {
    this.#maxUsd = maxUsd;
    this.#spent = new RunTotals(price);
    this.#transport = transport;
  }

  /** Counts one more request if it fits beside the spent cost and the requests in flight. */
  allows(nextRequest: () => EvaluationRequest): boolean {
    if (this.#maxUsd === Number.POSITIVE_INFINITY) return true;
    const perCall = this.#spent.callUsd([nextRequest()], this.#transport);
    const fits = this.#spent.costUsd + (this.#inFlight + 1) * perCall <= this.#maxUsd;
    if (fits) this.#inFlight += 1;
    else this.isSpent = true;
    return fits;
  }

  /** Counts a request that has ended. */
  ended(end: EndedCall): void {
    this.#inFlight -= 1;
    this.#spent.add(end);
  }
}

type EndedCall = { readonly error: string } | { readonly evaluation: Evaluation };

/** The counts of a run so far; it counts calls that are on the disk. */
export class RunTotals {
  succeeded = 0;
  failed = 0;
  /** Why the newest failed call failed; null if none did. */
  failure: string | null = null;
  inputTokens = 0;
  costUsd = 0;
  readonly #price: Price;

  /** @param price - Applies to answers without a cost. */
  constructor(price: Price) {
    this.#price = price;
  }

  /** Whether there are answers of unknown cost. */
  get isUnpriced(): boolean {
    const { inputUsdPerMillionTokens } = this.#price;
    return inputUsdPerMillionTokens === null && this.succeeded > 0 && this.costUsd === 0;
  }

  /** Returns the total cost, for people. */
  describeCost(): string {
    return printUsd(this.isUnpriced ? null : this.costUsd);
  }

  /** Counts a call that has ended. */
  add(end: EndedCall): void {
    if ("error" in end) {
      this.failed += 1;
      this.failure = end.error;
      return;
    }
    this.succeeded += 1;
    this.inputTokens += end.evaluation.usage?.inputTokens ?? 0;
    this.costUsd += this.usdOf(end.evaluation) ?? 0;
  }

  /** Returns the cost of an answer in US dollars: as reported, else by its tokens; null if unknown. */
  usdOf({ costUsd, usage }: Evaluation): number | null {
    return costUsd ?? (usage && tokensUsd(usage.inputTokens, this.#price));
  }

  /** Returns the expected cost of a call in US dollars: the estimate, or the average so far if that is more. */
  callUsd(requests: readonly EvaluationRequest[], transport: Transport): number {
    if (requests.length === 0) return 0;
    const inputUsdPerMillionTokens = this.#price.inputUsdPerMillionTokens ?? 0;
    const { costUsd } = estimateCost(requests, { inputUsdPerMillionTokens, transport });
    return Math.max(costUsd / requests.length, this.costUsd / Math.max(1, this.succeeded));
  }
}

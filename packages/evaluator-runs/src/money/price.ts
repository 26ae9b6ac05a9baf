import { type Catalog, EvaluatorError, type Transport } from "evaluator-client";
import { printable } from "evaluator-kit";
import { toService } from "../service.ts";

/** The price of input; output is free (contract section 1, rule 11). */
export interface Price {
  /** US dollars; null if unknown. */
  readonly inputUsdPerMillionTokens: number | null;
  /** The origin of the price, for people. */
  readonly source: string;
}

/** The price of a run; `next` is that of the engine that is asked again, if there is one. */
export interface RunPrice extends Price {
  readonly next?: Price | undefined;
}

/** Returns what makes a maximum cost void, and what to do; null if the prices of all engines are known. */
export function findUnpriced({ next, ...own }: RunPrice) {
  const isOwn = own.inputUsdPerMillionTokens === null;
  const unpriced = isOwn ? own : next;
  if (unpriced?.inputUsdPerMillionTokens !== null) return null;
  const option = isOwn ? "--price" : "--then-price";
  return {
    problem: `cannot be kept: ${unpriced.source}; nothing was sent`,
    advice: `Set ${option} USD (a million input tokens)`,
  };
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
  /** The option that gave it. @default --price */
  readonly source?: string;
}): Promise<Price> {
  const { given: typedUsd, catalog, transport, signal, source = "--price" } = from;
  if (typedUsd !== undefined) return { inputUsdPerMillionTokens: typedUsd, source };
  const defaultPrice = documentedPrice(transport);
  const isListed = transport.usdPerMillionTokens === undefined && catalog !== null;
  if (defaultPrice.inputUsdPerMillionTokens === null || !isListed) return defaultPrice;
  try {
    const models = await catalog.listModels({ signal });
    const { modelId } = toService(transport);
    const listedUsd = models.find(({ id }) => id === modelId)?.inputUsdPerMillionTokens ?? null;
    if (listedUsd === null) return contractPrice("the documented price; the gateway lists none");
    return { inputUsdPerMillionTokens: listedUsd, source: "the gateway's price list" };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    return contractPrice("the documented price; the gateway's list cannot be read");
  }
}

/** Returns the prices of the engine of a run, and of the one that is asked again, if there is one. */
export async function findRunPrice(
  { price, thenPrice }: Readonly<Partial<Record<"price" | "thenPrice", number | undefined>>>,
  [first, next]: readonly [PricedEngine, PricedEngine | null],
  signal: AbortSignal,
): Promise<RunPrice> {
  const own = await findPrice({ given: price, ...first, signal });
  if (next === null) return own;
  // A price of the first engine, such as 0 of one on this machine, would make a cap void for a dearer one.
  const typedPrice = { given: thenPrice, source: "--then-price" };
  return { ...own, next: await findPrice({ ...typedPrice, ...next, signal }) };
}

/** An engine, and its price list or null. */
interface PricedEngine {
  readonly transport: Transport;
  readonly catalog: Catalog | null;
}

/** Returns the price that an engine itself has, else the contract's; null for one without both. */
export function documentedPrice(transport: Transport): Price {
  const { usdPerMillionTokens: ownUsd, name, target } = transport;
  if (ownUsd !== undefined)
    return { inputUsdPerMillionTokens: ownUsd, source: `the price of ${name}` };
  if (hasDocumentedPrice(transport)) return contractPrice("the documented price");
  const engine = target === undefined ? name : `${target.modelId} through ${name}`;
  return { inputUsdPerMillionTokens: null, source: printable`no list has the price of ${engine}` };
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

import list from "./models.json" with { type: "json" };
import { gatewayError } from "./request-error.ts";

/**
 * Money is counted in picodollars (1e-12 US dollars), as whole numbers: the cheapest price, $0.042
 * per million tokens, is 42,000 of them for one token.
 */
export type Picodollars = number;

const dollarDecimals = 12;

/** Picodollars in one US dollar. */
export const picodollarsPerDollar = 10 ** dollarDecimals;

/** Returns the price of one token, from a price in US dollars per million tokens. */
function toTokenPrice(dollars: number): Picodollars {
  return Math.round((dollars * picodollarsPerDollar) / 1_000_000);
}

/** Returns US dollars as a plain decimal string, never in exponent notation: `0.000014112`, `-0.5`. */
export function toDollarString(amount: Picodollars): string {
  const amountDigits = String(Math.abs(Math.round(amount))).padStart(dollarDecimals + 1, "0");
  const fractionDigits = amountDigits.slice(-dollarDecimals).replace(/(?<!0)0+$/, "");
  const signText = amount < 0 ? "-" : "";
  return `${signText}${amountDigits.slice(0, -dollarDecimals)}${fractionDigits === "" ? "" : `.${fractionDigits}`}`;
}

/** One model of the emulator's price list. */
export interface CatalogModel {
  /** `<provider>/<model>`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly type: "evaluation" | "language";
  /** In tokens; 0 for the evaluation model (field fact). */
  readonly contextWindow: number;
  /** Most output tokens. */
  readonly maxTokens: number;
  /** Price of one input token. */
  readonly inputPrice: Picodollars;
  /** Price of one output token. */
  readonly outputPrice: Picodollars;
  /** Price of one input token that a cache had; absent if the list has none. */
  readonly cacheReadPrice?: Picodollars;
  /** Price of one input token that a cache keeps; absent if the list has none. */
  readonly cacheWritePrice?: Picodollars;
  /** Whether a free-tier account may use it; the gateway's own subset is not public. */
  readonly isOnFreeTier: boolean;
}

/** Returns the part of a model's id that names its provider. */
export function toProvider({ id }: CatalogModel): string {
  return id.slice(0, id.indexOf("/"));
}

/**
 * A small price list. Ids exist in the pinned gateway package; prices and windows are those of the
 * gateway's model pages in November 2026. Cache prices are the providers' own, for five minutes.
 */
export const models: readonly CatalogModel[] = list.map(toModel);

function toModel({ type, dollarsPerMillion, ...model }: (typeof list)[number]): CatalogModel {
  const { input, output, cacheRead, cacheWrite } = dollarsPerMillion;
  return {
    ...model,
    type: type as CatalogModel["type"],
    inputPrice: toTokenPrice(input),
    outputPrice: toTokenPrice(output),
    ...(cacheRead !== undefined && { cacheReadPrice: toTokenPrice(cacheRead) }),
    ...(cacheWrite !== undefined && { cacheWritePrice: toTokenPrice(cacheWrite) }),
  };
}

/** Returns the model with this id. @throws {RequestError} 404 if the price list does not have it. */
export function findModel(modelId: string): CatalogModel {
  const model = models.find(({ id }) => id === modelId);
  if (model !== undefined) return model;
  const details = { status: 404, type: "model_not_found", param: { modelId } };
  throw gatewayError("Model not found; the emulator knows those of /v1/models.", details);
}

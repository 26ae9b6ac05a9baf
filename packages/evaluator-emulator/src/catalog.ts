import { gatewayError } from "./request-error.ts";

/**
 * Money is counted in picodollars (1e-12 US dollars), as whole numbers: the cheapest price, $0.042
 * per million tokens, is 42,000 of them for one token.
 */
export type Picodollars = number;

const decimals = 12;

/** Picodollars in one US dollar. */
export const picodollarsPerDollar = 10 ** decimals;

/** Returns the price of one token, from a price in US dollars per million tokens. */
function perMillion(dollars: number): Picodollars {
  return Math.round((dollars * picodollarsPerDollar) / 1_000_000);
}

/** Returns US dollars as a plain decimal string, never in exponent notation: `0.000014112`, `-0.5`. */
export function toDollarString(amount: Picodollars): string {
  const digits = String(Math.abs(Math.round(amount))).padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/(?<!0)0+$/, "");
  const sign = amount < 0 ? "-" : "";
  return `${sign}${digits.slice(0, -decimals)}${fraction === "" ? "" : `.${fraction}`}`;
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
export function providerOf({ id }: CatalogModel): string {
  return id.slice(0, id.indexOf("/"));
}

const textModel = {
  type: "language",
  contextWindow: 1_000_000,
  maxTokens: 128_000,
  isOnFreeTier: true,
} as const;

/**
 * A small price list. Ids exist in the pinned gateway package; prices and windows are those of the
 * gateway's model pages in November 2026. Cache prices are the providers' own, for five minutes.
 */
export const models: readonly CatalogModel[] = [
  {
    id: "typesafe-ai/jev",
    name: "Jev",
    description: "Evaluation model: typed questions about a state, answered with probabilities.",
    type: "evaluation",
    contextWindow: 0,
    maxTokens: 0,
    inputPrice: perMillion(0.042),
    outputPrice: perMillion(0),
    isOnFreeTier: true,
  },
  {
    ...textModel,
    id: "openai/gpt-5-nano",
    name: "GPT-5 nano",
    description: "Text model for classification, routing and short replies.",
    contextWindow: 400_000,
    inputPrice: perMillion(0.05),
    outputPrice: perMillion(0.4),
    cacheReadPrice: perMillion(0.005),
  },
  {
    ...textModel,
    id: "anthropic/claude-haiku-5.5",
    name: "Claude Haiku 5.5",
    description: "Text model for everyday tasks and tool use.",
    inputPrice: perMillion(0.1),
    outputPrice: perMillion(0.5),
    cacheReadPrice: perMillion(0.01),
    cacheWritePrice: perMillion(0.125),
  },
  {
    ...textModel,
    id: "google/gemini-3.1-flash-lite",
    name: "Gemini 3.1 Flash Lite",
    description: "Text model for simple questions in high volume.",
    maxTokens: 65_000,
    inputPrice: perMillion(0.25),
    outputPrice: perMillion(1.5),
    cacheReadPrice: perMillion(0.025),
  },
  {
    ...textModel,
    id: "anthropic/claude-sonnet-5.5",
    name: "Claude Sonnet 5.5",
    description: "Text model for reasoning, planning and code.",
    inputPrice: perMillion(2),
    outputPrice: perMillion(10),
    cacheReadPrice: perMillion(0.1),
    cacheWritePrice: perMillion(2.5),
    isOnFreeTier: false,
  },
  {
    ...textModel,
    id: "anthropic/claude-fable-5.1",
    name: "Claude Fable 5.1",
    description: "Text model for long and high-stakes work.",
    inputPrice: perMillion(10),
    outputPrice: perMillion(50),
    cacheReadPrice: perMillion(0.25),
    cacheWritePrice: perMillion(12.5),
    isOnFreeTier: false,
  },
];

/** Returns the model with this id. @throws {RequestError} 404 if the price list does not have it. */
export function findModel(modelId: string): CatalogModel {
  const model = models.find(({ id }) => id === modelId);
  if (model !== undefined) return model;
  const details = { status: 404, type: "model_not_found", param: { modelId } };
  throw gatewayError("Model not found; the emulator knows those of /v1/models.", details);
}

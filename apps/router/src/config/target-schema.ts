import { priceProblem } from "evaluator-client/token-price";
import { z } from "zod";
import type { ModelPrice } from "../reply/usage.ts";
import { fields, listOf, orNull } from "./fields.ts";

const notCount = "is not a number of tokens, such as 200000";
const tokenCount = z.int(notCount).min(1, notCount);
const isCapable = z.boolean("is neither true nor false").exactOptional();
const notEffort = "is not an effort, such as high";
const effortName = z.string(notEffort).regex(/^[a-z]{1,20}$/, notEffort);

/** The capabilities of a model. A missing one is read from the gateway's list, if the model is on it. */
export const capabilities = {
  contextWindow: tokenCount.exactOptional(),
  maxOutputTokens: tokenCount.exactOptional(),
  images: isCapable,
  files: isCapable,
  tools: isCapable,
  efforts: listOf(effortName).exactOptional(),
};

type GivenTarget = z.infer<z.ZodObject<typeof capabilities>> & {
  readonly upstream: string;
  readonly model: string;
  readonly price: ModelPrice | null;
};

/** Returns a model of an upstream, as the file names it. */
export function toTarget({ upstream, model, price, ...statedCapabilities }: GivenTarget) {
  const isKnown = Object.keys(statedCapabilities).length > 0;
  return { upstream, model, price, ...(isKnown && { capabilities: statedCapabilities }) };
}

const notUsd = "is not a number of US dollars per million tokens, such as 0.25";

const usdAmount = z.number(notUsd).min(0, notUsd);
/** The schema of a price in US dollars per million tokens; that of one token is refused. */
export const tokenUsd = usdAmount.refine((priceUsd) => priceProblem(priceUsd) === null, {
  error: ({ input }) => priceProblem(input),
});
const optionalUsd = usdAmount.exactOptional();
const perMillion = {
  cacheRead: optionalUsd,
  cacheWrite: optionalUsd,
  /** Kept for an hour. */
  longCacheWrite: optionalUsd,
};
const stepUsd = tokenUsd.exactOptional();
const step = fields({ inputTokens: tokenCount, input: stepUsd, output: stepUsd, ...perMillion });
const notFactor = "is not a factor, such as 2";
const priceFactor = z.number(notFactor).min(0, notFactor);
const prices = fields({
  input: tokenUsd,
  output: tokenUsd,
  ...perMillion,
  fromInputTokens: listOf(step.transform(toPrices)).exactOptional(),
  modes: z.record(z.string(), priceFactor, "is not an object").exactOptional(),
  usdPerSearch: optionalUsd,
  usdPerCall: z.record(z.string(), usdAmount, "is not an object").exactOptional(),
  tokensPerFile: tokenCount.exactOptional(),
});

/** The schema of a model's price; null if absent. */
export const price = orNull(prices.transform((givenParts) => toPrices(givenParts) as ModelPrice));

function isPrice(fieldName: string): boolean {
  return fieldName === "input" || fieldName === "output" || fieldName in perMillion;
}

function toPrices(givenFields: object): object {
  const priceEntries = Object.entries(givenFields).map(([fieldName, fieldPrice]) => [
    isPrice(fieldName) ? `${fieldName}UsdPerMillionTokens` : fieldName,
    fieldPrice,
  ]);
  return Object.fromEntries(priceEntries) as object;
}

import { priceProblem } from "evaluator-client/token-price";
import { z } from "zod";
import type { ModelPrice } from "../reply/usage.ts";
import { fields, listOf, orNull } from "./fields.ts";

const notCount = "is not a number of tokens, such as 200000";
const tokens = z.int(notCount).min(1, notCount);
const can = z.boolean("is neither true nor false").exactOptional();
const notEffort = "is not an effort, such as high";
const effort = z.string(notEffort).regex(/^[a-z]{1,20}$/, notEffort);

/** The capabilities of a model. A missing one is read from the gateway's list, if the model is on it. */
export const capabilities = {
  contextWindow: tokens.exactOptional(),
  maxOutputTokens: tokens.exactOptional(),
  images: can,
  files: can,
  tools: can,
  efforts: listOf(effort).exactOptional(),
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

const usd = z.number(notUsd).min(0, notUsd);
/** The schema of a price in US dollars per million tokens; that of one token is refused. */
export const tokenUsd = usd.refine((price) => priceProblem(price) === null, {
  error: ({ input }) => priceProblem(input),
});
const optionalUsd = usd.exactOptional();
const perMillion = {
  cacheRead: optionalUsd,
  cacheWrite: optionalUsd,
  /** Kept for an hour. */
  longCacheWrite: optionalUsd,
};
const stepUsd = tokenUsd.exactOptional();
const step = fields({ inputTokens: tokens, input: stepUsd, output: stepUsd, ...perMillion });
const notFactor = "is not a factor, such as 2";
const factor = z.number(notFactor).min(0, notFactor);
const prices = fields({
  input: tokenUsd,
  output: tokenUsd,
  ...perMillion,
  fromInputTokens: listOf(step.transform(toPrices)).exactOptional(),
  modes: z.record(z.string(), factor, "is not an object").exactOptional(),
  usdPerSearch: optionalUsd,
  usdPerCall: z.record(z.string(), usd, "is not an object").exactOptional(),
  tokensPerFile: tokens.exactOptional(),
});

/** The schema of a model's price; null if absent. */
export const price = orNull(prices.transform((givenParts) => toPrices(givenParts) as ModelPrice));

function isPrice(name: string): boolean {
  return name === "input" || name === "output" || name in perMillion;
}

function toPrices(givenFields: object): object {
  const entries = Object.entries(givenFields).map(([name, of]) => [
    isPrice(name) ? `${name}UsdPerMillionTokens` : name,
    of,
  ]);
  return Object.fromEntries(entries) as object;
}

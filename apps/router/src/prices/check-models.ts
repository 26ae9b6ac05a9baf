import type { Tier } from "../tier-question.ts";
import { tierNames } from "../tier-question.ts";
import type { ModelPrice } from "./model-price.ts";

/** The models a router is set up with. */
export interface ConfiguredModels {
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly fallbackModel: string | null;
}

/** What a price list says of the configured models, in one line each. */
export interface ModelCheck {
  /** Every model that is not listed, with the variable that names it. */
  readonly missing: readonly string[];
  /** The price ratio from the cheapest tier to the dearest. */
  readonly ratio: string;
}

/** Compares the configured models with the price list. */
export function checkModels(
  { tierModels, fallbackModel }: ConfiguredModels,
  list: ReadonlyMap<string, ModelPrice | null>,
): ModelCheck {
  const configured: [variable: string, model: string][] = tierNames.map((tier) => [
    `ROUTER_MODEL_${tier.toUpperCase()}`,
    tierModels[tier],
  ]);
  if (fallbackModel !== null) configured.push(["ROUTER_FALLBACK_MODEL", fallbackModel]);
  const missing = configured
    .filter(([, model]) => !list.has(model))
    .map(([name, model]) => `${name}: the gateway's price list has no model ${model}.`);
  return { missing, ratio: describeRatio(tierModels, list) };
}

function describeRatio(
  tierModels: ConfiguredModels["tierModels"],
  list: ReadonlyMap<string, ModelPrice | null>,
): string {
  const prices = tierNames.map((tier) => list.get(tierModels[tier])?.inputUsdPerMillionTokens);
  const known = prices.filter((price) => price !== undefined);
  const [cheapest, dearest] = [Math.min(...known), Math.max(...known)];
  if (known.length < prices.length || cheapest <= 0) {
    return "Not every tier has a price, so there is no price ratio.";
  }
  const ratio = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(
    dearest / cheapest,
  );
  return `Input costs from $${cheapest} to $${dearest} per million tokens: the dearest tier is ${ratio} times the cheapest.`;
}

import { setTimeout } from "node:timers/promises";
import { EvaluatorError } from "evaluator-client";
import { type Tier, tierNames } from "./decision/tier-question.ts";
import { readPriceList } from "./reply/price-list.ts";
import type { ModelPrice } from "./reply/usage.ts";
import type { Services } from "./services/connect-services.ts";

interface PriceRefresh extends Pick<Services, "catalog" | "redact"> {
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly fallbackModels: readonly string[];
  readonly prices: Map<string, ModelPrice>;
  readonly onTried: () => void;
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly sleep?: typeof setTimeout;
}

/** Reads the price list, again each minute while it is unreadable, and prints missing models. */
export async function refreshPrices(refresh: PriceRefresh) {
  const { catalog, redact, prices, onTried } = refresh;
  const { signal, write, warn, sleep = setTimeout } = refresh;
  if (catalog === null) return onTried();
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const list = await readPriceList(catalog, signal);
      for (const [id, price] of list) if (price !== null) prices.set(id, price);
      for (const line of missingModels(refresh, list)) warn(`${line}\n`);
      return write(`${describeRatio(refresh, list)}\n`);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof EvaluatorError)) throw error;
      if (isFirst) warn(`${unreadable} ${redact.strictly(error.message)}\n`);
    } finally {
      onTried();
    }
    await sleep(60_000, undefined, { signal }).catch(() => undefined); // aborted
  }
}

const unreadable =
  "The price list cannot be read, so costs are unknown; it is tried again each minute.";

type ListedPrices = Awaited<ReturnType<typeof readPriceList>>;

function missingModels({ tierModels, fallbackModels }: PriceRefresh, list: ListedPrices) {
  const configured = [
    ...tierNames.map((tier) => [`ROUTER_MODEL_${tier.toUpperCase()}`, tierModels[tier]] as const),
    ...fallbackModels.map((model) => ["ROUTER_FALLBACK_MODELS", model] as const),
  ];
  return configured.flatMap(([name, model]) =>
    list.has(model) ? [] : [`${name}: the gateway's price list has no model ${model}.`],
  );
}

function describeRatio({ tierModels }: PriceRefresh, list: ListedPrices): string {
  const prices = tierNames.map((tier) => list.get(tierModels[tier])?.inputUsdPerMillionTokens);
  const known = prices.filter((price) => price !== undefined);
  const [cheapest, highest] = [Math.min(...known), Math.max(...known)];
  if (known.length < prices.length || cheapest <= 0) {
    return "Not every tier has a price, so there is no price ratio.";
  }
  const ratio = (highest / cheapest).toLocaleString("en", { maximumSignificantDigits: 3 });
  return `Input costs from $${cheapest} to $${highest} per million tokens: the dearest tier is ${ratio} times the cheapest.`;
}

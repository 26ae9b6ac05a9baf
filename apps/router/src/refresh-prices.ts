import { setTimeout } from "node:timers/promises";
import { type Catalog, type CatalogModel, EvaluatorError } from "evaluator-client";
import { withoutUndefined } from "./conversation/conversation.ts";
import { toCapabilities } from "./decision/capabilities.ts";
import { findPrice } from "./decision/replies.ts";
import { tierNames } from "./decision/tier-question.ts";
import type { ModelPrice, PriceStep } from "./reply/usage.ts";
import type { Services } from "./services/connect-services.ts";

interface PriceRefresh extends Pick<Services, "redact" | "replies"> {
  readonly prices: Map<string, ModelPrice>;
  readonly onTried: () => void;
  readonly signal: AbortSignal;
  readonly write: (lineText: string) => void;
  readonly warn: (text: string) => void;
  readonly sleep?: typeof setTimeout;
}

/** Lets a page that is opened at the start come first: loading the emulator takes 90 ms. Chosen. */
const START_MS = 100;

/** Reads the price lists, again each minute while one is unreadable, and prints missing models. */
export async function refreshPrices(priceRefresh: PriceRefresh) {
  const { redact, prices, onTried, signal, write, warn, sleep = setTimeout } = priceRefresh;
  const { catalogs, capabilities } = priceRefresh.replies;
  if (catalogs.length === 0) return onTried();
  await sleep(START_MS, undefined, { signal }).catch(() => undefined); // aborted
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const listedNames = new Set<string>();
      for (const catalog of catalogs.toReversed()) {
        const models = await catalog.listModels({ signal });
        for (const [id, price] of toPriceList(models)) if (price !== null) prices.set(id, price);
        for (const model of models) capabilities.set(model.id, toCapabilities(model));
        for (const { id } of models) listedNames.add(id);
      }
      for (const warningLine of missingModels(priceRefresh, listedNames)) warn(`${warningLine}\n`);
      return write(`${describeRatio(priceRefresh)}\n`);
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

const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads the price lists at once and each day: a router may run for months. */
export async function refreshDaily(
  refresh: () => Promise<void>,
  { signal, sleep = setTimeout }: Pick<PriceRefresh, "signal" | "sleep">,
): Promise<void> {
  while (!signal.aborted) {
    await refresh();
    await sleep(DAY_MS, undefined, { signal, ref: false }).catch(() => undefined); // aborted
  }
}

const unreadable =
  "The price list cannot be read, so costs are unknown; it is tried again each minute.";

/** Reads the price of each listed model, null if a part is missing. @throws EvaluatorError */
export async function readPriceList(catalog: Catalog, signal: AbortSignal) {
  return toPriceList(await catalog.listModels({ signal }));
}

function toPriceList(catalogModels: readonly CatalogModel[]) {
  return new Map(catalogModels.map((model) => [model.id, toPrice(model)]));
}

function toPrice(listedModel: CatalogModel): ModelPrice | null {
  const { inputUsdPerMillionTokens, outputUsdPerMillionTokens } = listedModel;
  const { cacheReadUsdPerMillionTokens, cacheWriteUsdPerMillionTokens } = listedModel;
  if (inputUsdPerMillionTokens === null || outputUsdPerMillionTokens === null) return null;
  return {
    inputUsdPerMillionTokens,
    outputUsdPerMillionTokens,
    ...withoutUndefined({ cacheReadUsdPerMillionTokens, cacheWriteUsdPerMillionTokens }),
    ...listSteps(listedModel),
  };
}

/** The price list's names of prices by the length of the input. */
const tierNamesOf = {
  input_tiers: "inputUsdPerMillionTokens",
  output_tiers: "outputUsdPerMillionTokens",
  input_cache_read_tiers: "cacheReadUsdPerMillionTokens",
  input_cache_write_tiers: "cacheWriteUsdPerMillionTokens",
} as const;

function listSteps(model: CatalogModel): Pick<ModelPrice, "fromInputTokens"> {
  const pricing = Object((model.raw as { pricing?: unknown }).pricing) as Record<string, unknown>;
  // The catalog has found out whether the list is per token.
  const { inputUsdPerMillionTokens: listedUsd } = model;
  const isPerMillion = listedUsd !== 0 && Number(pricing["input"]) === listedUsd;
  const usdFactor = isPerMillion ? 1 : 1_000_000;
  const steps = new Map<number, PriceStep>();
  for (const [tiersName, priceField] of Object.entries(tierNamesOf)) {
    const priceTiers = pricing[tiersName];
    for (const priceTier of Array.isArray(priceTiers) ? priceTiers : []) {
      const { cost, min } = Object(priceTier) as { cost?: unknown; min?: unknown };
      const [usd, inputTokens] = [Number(cost) * usdFactor, Number(min ?? 0)];
      if (!(usd >= 0 && inputTokens >= 0 && usd < Infinity && inputTokens < Infinity)) continue;
      steps.set(inputTokens, { ...steps.get(inputTokens), inputTokens, [priceField]: usd });
    }
  }
  const rising = [...steps.values()].toSorted((one, other) => one.inputTokens - other.inputTokens);
  return rising.length === 0 ? {} : { fromInputTokens: rising };
}

/** Only the gateway has a price list. */
function missingModels({ replies }: PriceRefresh, listedNames: ReadonlySet<string>): string[] {
  const tierTargets = tierNames.flatMap((tier) =>
    replies.current.tiers[tier].targets.map((target) => ({ tier, ...target })),
  );
  const missingTargets = tierTargets.filter(({ upstream, model }) => {
    return upstream.type === "gateway" && !listedNames.has(model);
  });
  return [...Map.groupBy(missingTargets, ({ model }) => model)].map(([modelName, missingUses]) => {
    const tierTexts = [...new Set(missingUses.map(({ tier }) => tier))].join(", ");
    return `The gateway's price list has no model ${modelName}, which is set for ${tierTexts}; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.`;
  });
}

function describeRatio({ replies, prices }: PriceRefresh): string {
  const tierTargets = tierNames.map((tier) => replies.current.tiers[tier].targets[0]);
  const inputPrices = tierTargets.flatMap(
    (target) => findPrice(target, prices)?.inputUsdPerMillionTokens ?? [],
  );
  const [cheapest, highest] = [Math.min(...inputPrices), Math.max(...inputPrices)];
  if (inputPrices.length < tierTargets.length || cheapest <= 0) {
    return "Not every tier has a price, so there is no price ratio.";
  }
  const priceRatio = (highest / cheapest).toLocaleString("en", { maximumSignificantDigits: 3 });
  return `Input costs from $${cheapest} to $${highest} per million tokens: the dearest tier is ${priceRatio} times the cheapest.`;
}

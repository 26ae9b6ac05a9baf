import { setTimeout } from "node:timers/promises";
import { type Catalog, type CatalogModel, EvaluatorError } from "evaluator-client";
import type { Redact } from "../security/redactor.ts";
import { type Tier, tierNames } from "../tier-question.ts";
import type { ModelPrice } from "./tokens.ts";

/** The models a router is set up with. */
export interface ConfiguredModels {
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly fallbackModels: readonly string[];
}

/** Where prices come from and go to. */
export interface PriceRefresh {
  readonly catalog: Catalog;
  readonly redact: Redact;
  readonly models: ConfiguredModels;
  /** Is filled with what is found. */
  readonly prices: Map<string, ModelPrice>;
  /** Called after each try. */
  readonly onTried: () => void;
}

/** Where the prices' state is printed, and what ends the trying. */
export interface RefreshContext {
  readonly signal: AbortSignal;
  /** Prints what is as it should be. */
  readonly write: (text: string) => void;
  /** Prints what a person should look at. */
  readonly warn: (text: string) => void;
  /** Waits that many milliseconds, or until the signal. @default a timer */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Reads the price list, and prints what it says of the configured models. The router works without
 * prices, so a list that cannot be read is a warning, and is tried again each minute until it can.
 *
 * @throws whatever is no failure of the service.
 */
export async function refreshPrices(refresh: PriceRefresh, context: RefreshContext) {
  const { catalog, redact, models, prices, onTried } = refresh;
  const { signal, write, warn, sleep = untilAborted } = context;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const list = await readPriceList(catalog, signal);
      for (const [id, price] of list) if (price !== null) prices.set(id, price);
      const { missing, ratio } = checkModels(models, list);
      for (const line of missing) warn(`${line}\n`);
      return write(`${ratio}\n`);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof EvaluatorError)) throw error;
      if (isFirst) warn(`${unreadable} ${redact.strictly(error.message)}\n`);
    } finally {
      onTried();
    }
    await sleep(60_000, signal);
  }
}

const unreadable =
  "The price list cannot be read, so costs are unknown; it is tried again each minute.";

async function untilAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Every model of a price list; one without both prices is listed with none. */
type ListedPrices = ReadonlyMap<string, ModelPrice | null>;

/**
 * Reads the gateway's price list.
 *
 * @throws EvaluatorError when the list cannot be read, or the signal's reason.
 */
export async function readPriceList(catalog: Catalog, signal: AbortSignal): Promise<ListedPrices> {
  const models = await catalog.listModels({ signal });
  return new Map(models.map((model) => [model.id, toPrice(model)]));
}

function toPrice(model: CatalogModel): ModelPrice | null {
  const { inputUsdPerMillionTokens, outputUsdPerMillionTokens } = model;
  if (inputUsdPerMillionTokens === null || outputUsdPerMillionTokens === null) return null;
  return { inputUsdPerMillionTokens, outputUsdPerMillionTokens };
}

/** Compares the configured models with the price list. */
export function checkModels({ tierModels, fallbackModels }: ConfiguredModels, list: ListedPrices) {
  const configured: [variable: string, model: string][] = tierNames.map((tier) => [
    `ROUTER_MODEL_${tier.toUpperCase()}`,
    tierModels[tier],
  ]);
  for (const model of fallbackModels) configured.push(["ROUTER_FALLBACK_MODELS", model]);
  const missing = configured
    .filter(([, model]) => !list.has(model))
    .map(([name, model]) => `${name}: the gateway's price list has no model ${model}.`);
  return { missing, ratio: describeRatio(tierModels, list) };
}

function describeRatio(tierModels: ConfiguredModels["tierModels"], list: ListedPrices): string {
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

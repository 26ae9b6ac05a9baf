import { setTimeout } from "node:timers/promises";
import { type Catalog, EvaluatorError } from "evaluator-client";
import type { Redact } from "../security/redactor.ts";
import { checkModels, type ConfiguredModels } from "./check-models.ts";
import { loadPrices } from "./load-prices.ts";
import type { ModelPrice } from "./model-price.ts";

/** Where prices come from and go to. */
export interface PriceWatch {
  readonly catalog: Catalog;
  readonly redact: Redact;
  readonly models: ConfiguredModels;
  /** Is filled with what is found. */
  readonly prices: Map<string, ModelPrice>;
  /** Is told after each try. */
  readonly onTried: () => void;
}

/** Where a price watch tells of itself, and what ends it. */
export interface PriceSurroundings {
  readonly signal: AbortSignal;
  /** Prints what is as it should be. */
  readonly write: (text: string) => void;
  /** Prints what a person should look at. */
  readonly warn: (text: string) => void;
  /** Waits that many milliseconds, or until the signal. @default a timer */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Reads the price list, and tells what it says of the configured models. The router works without
 * prices, so a list that cannot be read is a warning, and is tried again each minute until it can.
 *
 * @throws whatever is no failure of the service.
 */
export async function watchPrices(watch: PriceWatch, surroundings: PriceSurroundings) {
  const { catalog, redact, models, prices, onTried } = watch;
  const { signal, write, warn, sleep = untilAborted } = surroundings;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const list = await loadPrices(catalog, signal);
      for (const [id, price] of list) if (price !== null) prices.set(id, price);
      const { missing, ratio } = checkModels(models, list);
      for (const line of missing) warn(`${line}\n`);
      return write(`${ratio}\n`);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof EvaluatorError)) throw error;
      if (isFirst) warn(`${unreadable} ${redact(error.message)}\n`);
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

import { createCatalog } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { defaultTierModels } from "../options/default-tier-models.ts";
import { redactor } from "../security/redactor.ts";
import type { ModelPrice } from "./model-price.ts";
import { watchPrices } from "./watch-prices.ts";

/** Watches a price list that cannot be read the first times. */
async function watch({ failures, signal }: { failures: number; signal?: AbortSignal }) {
  const emulator = createEmulator();
  let asked = 0;
  const fetch: typeof globalThis.fetch = async (input, init) =>
    asked++ < failures ? new Response("", { status: 500 }) : emulator.fetch(input, init);
  const catalog = createCatalog({ fetch, env: {}, maxRetries: 0 });
  const models = { tierModels: defaultTierModels, fallbackModel: null };
  const prices = new Map<string, ModelPrice>();
  const told: string[] = [];
  await watchPrices(
    { catalog, redact: redactor([]), models, prices, onTried: () => told.push("tried") },
    {
      signal: signal ?? new AbortController().signal,
      write: (text) => told.push(text),
      warn: (text) => told.push(`warning: ${text}`),
      sleep: async (milliseconds) => void told.push(`${milliseconds} ms later`),
    },
  );
  return { prices, told, asked };
}

const ratio = expect.stringContaining("200 times the cheapest");

test("a list that can be read is read once", async () => {
  const { prices, told, asked } = await watch({ failures: 0 });
  expect({ told, asked }).toEqual({ told: [ratio, "tried"], asked: 1 });
  expect(prices.get(defaultTierModels.nano)?.inputUsdPerMillionTokens).toBe(0.05);
});

test("a list that cannot be read is a warning once, and tried again each minute", async () => {
  const { prices, told } = await watch({ failures: 2 });
  expect(told).toEqual([
    expect.stringMatching(
      /^warning: The price list cannot be read, so costs are unknown; [^\n]+\n$/,
    ),
    "tried",
    "60000 ms later",
    "tried",
    "60000 ms later",
    ratio,
    "tried",
  ]);
  expect(prices.size).toBeGreaterThan(3);
});

test("a router that stops asks no more", async () => {
  expect(await watch({ failures: 0, signal: AbortSignal.abort() })).toMatchObject({ asked: 0 });
});

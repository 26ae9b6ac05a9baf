import { createCatalog } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { defaultTierModels } from "./router-options.ts";
import { readPriceList } from "./refresh-prices.ts";
import { findCost } from "./reply/usage.ts";

async function listed(answer: () => Response | Promise<Response>) {
  const catalog = createCatalog({ fetch: async () => answer(), env: {} });
  return await readPriceList(catalog, new AbortController().signal);
}

test("a listed price has the cache prices that are known", async () => {
  const prices = await listed(() => createEmulator({ exchanges: [] }).fetch("/v1/models"));
  expect(prices.get(defaultTierModels.nano)).toStrictEqual({
    inputUsdPerMillionTokens: 0.05,
    outputUsdPerMillionTokens: 0.4,
    cacheReadUsdPerMillionTokens: 0.005,
  });
  expect(prices.get(defaultTierModels.frontier)).toStrictEqual({
    inputUsdPerMillionTokens: 10,
    outputUsdPerMillionTokens: 50,
    cacheReadUsdPerMillionTokens: 0.25,
    cacheWriteUsdPerMillionTokens: 12.5,
  });
});

test.each([
  ["per token", { input: "0.000001", output: "0.000002" }, "0.000003"],
  ["per million tokens", { input: "1", output: "2" }, "3"],
])("a list %s has the prices of long inputs in the same unit", async (_, usd, cost) => {
  const pricing = { ...usd, input_tiers: [{ cost, min: 200_000 }] };
  const prices = await listed(() => Response.json({ data: [{ id: "a/b", pricing }] }));
  expect(prices.get("a/b")).toMatchObject({
    inputUsdPerMillionTokens: 1,
    fromInputTokens: [{ inputTokens: 200_000, inputUsdPerMillionTokens: 3 }],
  });
});

test("a model without a price of input or output has no price", async () => {
  const pricings = [{ input: "1", input_cache_read: "1" }, { output: "1" }, {}, null];
  const data = pricings.map((pricing, at) => ({ id: `a/${at}`, pricing }));
  const prices = await listed(() => Response.json({ data }));
  expect([...prices.values()]).toEqual([null, null, null, null]);
});

test.each([
  ["0.000001", 0.05 + 0.095 + 0.025],
  ["0.00000025", 0.05 + 0.02375 + 0.025],
  [null, 1.025],
])(
  "100,000 tokens of input, 95,000 of them cached at $%s, and 500 of output cost $%d",
  async (cacheRead, costUsd) => {
    const pricing = { input: "0.00001", output: "0.00005", input_cache_read: cacheRead };
    const prices = await listed(() => Response.json({ data: [{ id: "a/b", pricing }] }));
    const usage = { input: 5000, cacheRead: 95_000, cacheWrite: 0, output: 500, reasoning: 0 };
    expect(findCost(usage, prices.get("a/b") ?? null)).toBeCloseTo(costUsd, 9);
  },
);

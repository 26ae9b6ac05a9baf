import { createCatalog } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { defaultTierModels } from "../options/environment-schema.ts";
import { redactor } from "../security/redactor.ts";
import type { ModelPrice } from "./tokens.ts";
import { checkModels, readPriceList, refreshPrices } from "./refresh-prices.ts";

/** Refreshes from a price list that cannot be read the first times. */
async function refresh({ failures, signal }: { failures: number; signal?: AbortSignal }) {
  const emulator = createEmulator();
  let asked = 0;
  const fetch: typeof globalThis.fetch = async (input, init) =>
    asked++ < failures ? new Response("", { status: 500 }) : emulator.fetch(input, init);
  const catalog = createCatalog({ fetch, env: {}, maxRetries: 0 });
  const models = { tierModels: defaultTierModels, fallbackModels: [] };
  const prices = new Map<string, ModelPrice>();
  const printed: string[] = [];
  await refreshPrices(
    { catalog, redact: redactor([]), models, prices, onTried: () => printed.push("tried") },
    {
      signal: signal ?? new AbortController().signal,
      write: (text) => printed.push(text),
      warn: (text) => printed.push(`warning: ${text}`),
      sleep: async (milliseconds) => void printed.push(`${milliseconds} ms later`),
    },
  );
  return { prices, printed, asked };
}

const ratio = expect.stringContaining("200 times the cheapest");

test("a list that can be read is read once", async () => {
  const { prices, printed, asked } = await refresh({ failures: 0 });
  expect({ printed, asked }).toEqual({ printed: [ratio, "tried"], asked: 1 });
  expect(prices.get(defaultTierModels.nano)?.inputUsdPerMillionTokens).toBe(0.05);
});

test("a list that cannot be read is a warning once, and tried again each minute", async () => {
  const { prices, printed } = await refresh({ failures: 2 });
  expect(printed).toEqual([
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
  expect(await refresh({ failures: 0, signal: AbortSignal.abort() })).toMatchObject({ asked: 0 });
});

const { signal } = new AbortController();

function loadList() {
  const emulator = createEmulator();
  const fetch: typeof globalThis.fetch = (input, init) => emulator.fetch(input, init);
  return readPriceList(createCatalog({ fetch, env: {} }), signal);
}

test("the default models are all listed, and the dearest input costs 200 times the cheapest", async () => {
  const models = { tierModels: defaultTierModels, fallbackModels: [] };
  expect(checkModels(models, await loadList())).toEqual({
    missing: [],
    ratio:
      "Input costs from $0.05 to $10 per million tokens: the dearest tier is 200 times the cheapest.",
  });
});

test("a model that does not exist is named, with the variable to change", async () => {
  const tierModels = { ...defaultTierModels, fast: "google/gemini-99" };
  expect(checkModels({ tierModels, fallbackModels: ["a/none"] }, await loadList())).toEqual({
    missing: [
      "ROUTER_MODEL_FAST: the gateway's price list has no model google/gemini-99.",
      "ROUTER_FALLBACK_MODELS: the gateway's price list has no model a/none.",
    ],
    ratio: "Not every tier has a price, so there is no price ratio.",
  });
});

test("a free model leaves no ratio rather than an endless one", () => {
  const free = { inputUsdPerMillionTokens: 0, outputUsdPerMillionTokens: 0 };
  const list = new Map(Object.values(defaultTierModels).map((id) => [id, free]));
  const models = { tierModels: defaultTierModels, fallbackModels: [] };
  expect(checkModels(models, list)).toEqual({
    missing: [],
    ratio: "Not every tier has a price, so there is no price ratio.",
  });
});

test.each([["input"], ["output"]])("a model without a price for its %s has none", async (side) => {
  const pricing = { input: "0.000001", output: "0.000002", [side]: undefined };
  const models = { data: [{ id: "a/b", object: "model", type: "language", pricing }] };
  const fetch = async () => Response.json(models);
  const catalog = createCatalog({ fetch, env: {}, maxRetries: 0 });
  expect([...(await readPriceList(catalog, signal))]).toEqual([["a/b", null]]);
});

import { createEmulator } from "evaluator-emulator";
import { createCatalog } from "evaluator-client";
import { expect, test } from "vitest";
import { defaultTierModels } from "../options/default-tier-models.ts";
import { checkModels } from "./check-models.ts";
import { loadPrices } from "./load-prices.ts";

const { signal } = new AbortController();

function loadList() {
  const emulator = createEmulator();
  const fetch: typeof globalThis.fetch = (input, init) => emulator.fetch(input, init);
  return loadPrices(createCatalog({ fetch, env: {} }), signal);
}

test("the default models are all listed, and the dearest input costs 200 times the cheapest", async () => {
  const models = { tierModels: defaultTierModels, fallbackModel: null };
  expect(checkModels(models, await loadList())).toEqual({
    missing: [],
    ratio:
      "Input costs from $0.05 to $10 per million tokens: the dearest tier is 200 times the cheapest.",
  });
});

test("a model that does not exist is named, with the variable to change", async () => {
  const tierModels = { ...defaultTierModels, fast: "google/gemini-99" };
  expect(checkModels({ tierModels, fallbackModel: "a/none" }, await loadList())).toEqual({
    missing: [
      "ROUTER_MODEL_FAST: the gateway's price list has no model google/gemini-99.",
      "ROUTER_FALLBACK_MODEL: the gateway's price list has no model a/none.",
    ],
    ratio: "Not every tier has a price, so there is no price ratio.",
  });
});

test("a free model leaves no ratio rather than an endless one", () => {
  const free = { inputUsdPerMillionTokens: 0, outputUsdPerMillionTokens: 0 };
  const list = new Map(Object.values(defaultTierModels).map((id) => [id, free]));
  const models = { tierModels: defaultTierModels, fallbackModel: null };
  expect(checkModels(models, list)).toEqual({
    missing: [],
    ratio: "Not every tier has a price, so there is no price ratio.",
  });
});

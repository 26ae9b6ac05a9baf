import { createCatalog } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import type { RouterConfig } from "./config/router-config.ts";
import type { Tier } from "./decision/tier-question.ts";
import { redactor } from "./reply/redactor.ts";
import type { ModelPrice } from "./reply/usage.ts";
import { defaultTierModels, parseRouterOptions } from "./router-options.ts";
import { refreshDaily, refreshPrices } from "./refresh-prices.ts";
import { configureReplies } from "./services/connect-services.ts";
import { gatewayUpstream } from "./testing/upstreams.ts";

interface RefreshOptions {
  /** How often the list cannot be read first. */
  readonly failures?: number;
  readonly signal?: AbortSignal;
  /** Models that differ from the default ones. */
  readonly tierModels?: Partial<Record<Tier, string>>;
  readonly fallbackModels?: string[];
  readonly config?: RouterConfig;
  /** @default the emulator's list */
  readonly list?: object;
  /** The lists of several gateways. */
  readonly lists?: object[];
}

async function refresh({ failures = 0, signal, list, ...named }: RefreshOptions = {}) {
  const emulator = createEmulator();
  let asked = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (asked++ < failures) return new Response("", { status: 500 });
    return list === undefined ? emulator.fetch(input, init) : Response.json(list);
  };
  const catalogs = named.lists?.map((each) =>
    createCatalog({ fetch: async () => Response.json(each), env: {}, maxRetries: 0 }),
  ) ?? [createCatalog({ fetch, env: {}, maxRetries: 0 })];
  const { tierModels, fallbackModels = [], config = null } = named;
  const options = parseRouterOptions({});
  const prices = new Map<string, ModelPrice>();
  const printed: string[] = [];
  await refreshPrices({
    redact: redactor([]),
    replies: {
      catalogs,
      capabilities: new Map(),
      current: configureReplies(gatewayUpstream({ apiKey: "k" }), {
        ...options,
        config,
        tierModels: { ...defaultTierModels, ...tierModels },
        policy: { ...options.policy, fallbackModels },
      }),
    },
    prices,
    onTried: () => printed.push("tried"),
    signal: signal ?? new AbortController().signal,
    write: (text) => printed.push(text),
    warn: (text) => printed.push(`warning: ${text}`),
    sleep: async <T>(milliseconds?: number, value?: T) => {
      printed.push(`${milliseconds} ms later`);
      return value as T;
    },
  });
  expect(printed.shift()).toBe("100 ms later"); // the page that is opened at the start comes first
  return { prices, printed, asked };
}

const ratio = expect.stringContaining("200 times the cheapest");

test("a list that can be read is read once", async () => {
  const { prices, printed, asked } = await refresh({ failures: 0 });
  expect({ printed, asked }).toEqual({ printed: [ratio, "tried"], asked: 1 });
  expect(prices.get(defaultTierModels.nano)?.inputUsdPerMillionTokens).toBe(0.05);
});

test("of several gateways, all lists are read, and the first one's prices hold", async () => {
  const listOf = (id: string, input: string) => ({
    data: [{ id, object: "model", type: "language", pricing: { input, output: input } }],
  });
  const lists = [listOf("a/b", "0.000001"), listOf("a/b", "0.000002"), listOf("a/c", "0.000003")];
  const { prices } = await refresh({ lists });
  const inputs = [...prices].map(([id, price]) => [id, price.inputUsdPerMillionTokens]);
  expect(Object.fromEntries(inputs)).toEqual({ "a/b": 1, "a/c": 3 });
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

test("the default models are all listed, and the dearest input costs 200 times the cheapest", async () => {
  expect((await refresh()).printed).toEqual([
    "Input costs from $0.05 to $10 per million tokens: the dearest tier is 200 times the cheapest.\n",
    "tried",
  ]);
});

test("a model that does not exist is named, with its tiers", async () => {
  const tierModels = { fast: "google/gemini-99" };
  const { printed } = await refresh({ tierModels, fallbackModels: ["a/none"] });
  expect(printed).toEqual([
    "warning: The gateway's price list has no model a/none, which is set for nano, fast, balanced, frontier; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.\n",
    "warning: The gateway's price list has no model google/gemini-99, which is set for fast; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.\n",
    "Not every tier has a price, so there is no price ratio.\n",
    "tried",
  ]);
});

test("missing models of the file are named too", async () => {
  const one = { type: "gateway", baseUrl: null, apiKey: "k", keyVariable: null } as const;
  const target = (model: string) => ({ upstream: "one", model, price: null });
  const tiers = {
    fast: { targets: [target("a/fast"), target("openai/gpt-5-nano"), target("a/spare")] as const },
  };
  const config = {
    upstreams: new Map([["one", one]]),
    keys: [],
    aliases: new Map(),
    decisions: [],
    models: new Map(),
  };
  const { printed } = await refresh({
    config: { ...config, tiers: { fast: { ...tiers.fast, maxRetries: 2 } } },
    tierModels: { nano: "a/nano" },
  });
  expect(printed.slice(0, 3)).toEqual([
    "warning: The gateway's price list has no model a/nano, which is set for nano; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.\n",
    "warning: The gateway's price list has no model a/fast, which is set for fast; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.\n",
    "warning: The gateway's price list has no model a/spare, which is set for fast; correct it in ROUTER_MODEL_*, ROUTER_FALLBACK_MODELS or the file of ROUTER_CONFIG.\n",
  ]);
});

test("a free model leaves no ratio rather than an endless one", async () => {
  const pricing = { input: "0", output: "0" };
  const data = Object.values(defaultTierModels).map((id) => {
    return { id, object: "model", type: "language", pricing };
  });
  const { printed } = await refresh({ list: { data } });
  expect(printed).toEqual(["Not every tier has a price, so there is no price ratio.\n", "tried"]);
});

test.each([["input"], ["output"]])("a model without a price for its %s has none", async (side) => {
  const pricing = { input: "0.000001", output: "0.000002", [side]: undefined };
  const list = { data: [{ id: "a/b", object: "model", type: "language", pricing }] };
  const { prices, printed } = await refresh({ list, fallbackModels: ["a/b"] });
  expect([...prices]).toEqual([]);
  expect(printed.join("")).not.toContain("has no model a/b");
});

test("the prices are read at once and again each day", async () => {
  const stop = new AbortController();
  const steps: unknown[] = [];
  const sleep = async <T>(milliseconds?: number, value?: T) => {
    steps.push(milliseconds);
    if (steps.length === 4) stop.abort();
    return value as T;
  };
  const refresh = async () => void steps.push("read");
  await refreshDaily(refresh, { signal: stop.signal, sleep });
  expect(steps).toEqual(["read", 86_400_000, "read", 86_400_000]);
});

import { expect, test } from "vitest";
import { usageIn } from "../testing/usage-in.ts";
import { findBilledCost, mergeUsage, noUsage } from "./usage.ts";
import { toTokenUsage } from "./usage-forms.ts";

const price = { inputUsdPerMillionTokens: 10, outputUsdPerMillionTokens: 50 };
const openAi = { prompt_tokens: 1000, completion_tokens: 10 };

const forms: [form: string, event: object, counts: object][] = [
  [
    "DeepSeek's hits",
    { usage: { ...openAi, prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 } },
    { input: 100, cacheRead: 900, output: 10 },
  ],
  [
    "Moonshot's cache",
    { usage: { ...openAi, cached_tokens: 900 } },
    { input: 100, cacheRead: 900 },
  ],
  ["a usage in a choice", { choices: [{ usage: openAi }] }, { input: 1000, output: 10 }],
  ["Groq's", { x_groq: { usage: openAi } }, { input: 1000, output: 10 }],
  [
    "reasoning beside the output",
    {
      usage: {
        ...openAi,
        total_tokens: 1110,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
    },
    { output: 110, reasoning: 100 },
  ],
  ["a total above its parts", { usage: { ...openAi, total_tokens: 1110 } }, { output: 110 }],
  [
    "more reasoning than output",
    { usage: { ...openAi, completion_tokens_details: { reasoning_tokens: 100 } } },
    { output: 110, isDoubtful: true },
  ],
  [
    "more cached input than input",
    { usage: { ...openAi, prompt_tokens_details: { cached_tokens: 1001 } } },
    { input: 1000, cacheRead: 1001, output: 10, isDoubtful: true },
  ],
  [
    "cached input beside the input under OpenAI's names",
    {
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 915,
        prompt_tokens_details: { cached_tokens: 900 },
      },
    },
    { input: 10, cacheRead: 900, output: 5, isDoubtful: true },
  ],
  [
    "the greater of two usages of one event",
    { usage: { prompt_tokens: 0, completion_tokens: 0 }, choices: [{ usage: openAi }] },
    { input: 1000, output: 10 },
  ],
  [
    "LiteLLM's writes",
    {
      usage: {
        ...openAi,
        prompt_tokens_details: {
          cache_creation_tokens: 300,
          cache_creation_token_details: { ephemeral_1h_input_tokens: 200 },
        },
      },
    },
    { input: 700, cacheWrite: 300, longCacheWrite: 200 },
  ],
  [
    "Alibaba's writes",
    { usage: { ...openAi, prompt_tokens_details: { cache_creation_input_tokens: 300 } } },
    { input: 700, cacheWrite: 300 },
  ],
  [
    "writes for an hour that no sum counts",
    { usage: { ...openAi, cache_creation: { ephemeral_1h_input_tokens: 9 } } },
    { input: 991, cacheWrite: 9, longCacheWrite: 9 },
  ],
  [
    "Anthropic's names in OpenAI's form",
    { usage: { ...openAi, cache_read_input_tokens: 900 } },
    { input: 100, cacheRead: 900 },
  ],
  [
    "Anthropic's cache beside the input",
    {
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 900,
        total_tokens: 920,
        output_tokens: 1,
      },
    },
    { input: 10, cacheRead: 900, output: 1 },
  ],
  [
    "writes for an hour",
    {
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_1h_input_tokens: 9 },
      },
    },
    { cacheWrite: 9, longCacheWrite: 9 },
  ],
  ["OpenRouter's cost", { usage: { ...openAi, cost: 0.5 } }, { billedUsd: 0.5 }],
  [
    "OpenRouter's fee beside the cost of one's own key",
    {
      usage: { ...openAi, cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 2 } },
    },
    { billedUsd: 2.1 },
  ],
  ["xAI's cost", { usage: { ...openAi, cost_in_usd_ticks: 37_756_000 } }, { billedUsd: 0.0037756 }],
  [
    "Perplexity's cost",
    { usage: { ...openAi, cost: { request_cost: 0.005, total_cost: 0.006 } } },
    { billedUsd: 0.006 },
  ],
  ["DeepInfra's cost", { usage: { ...openAi, estimated_cost: 0.25 } }, { billedUsd: 0.25 }],
  ["a service tier", { service_tier: "flex", usage: openAi }, { modes: ["flex"] }],
  [
    "Anthropic's priority, which is a contract",
    { usage: { ...openAi, service_tier: "priority" } },
    { modes: ["anthropic-priority"] },
  ],
  [
    "tokens of audio",
    { usage: { ...openAi, completion_tokens_details: { audio_tokens: 5 } } },
    { modes: ["audio"] },
  ],
  [
    "a speed",
    { usage: { ...openAi, speed: "fast", service_tier: "standard" } },
    { modes: ["fast"] },
  ],
  [
    "searches and calls of hosted tools in an output",
    {
      response: {
        output: [
          { type: { toString: 1 } },
          { type: "web_search_call" },
          { type: "web_search_call", action: { type: "search" } },
          { type: "web_search_call", action: { type: "open_page" } },
          { type: "code_interpreter_call" },
          { type: "function_call" },
        ],
        usage: openAi,
      },
    },
    { searches: 2, calls: { code_interpreter: 1 } },
  ],
];

test.each(forms)("reads %s", (_form, event, counts) => {
  expect(usageIn(event)).toMatchObject(counts);
});

test("an ordinary usage has the five counts alone", () => {
  const usage = { ...openAi, total_tokens: 1010 };
  const expected = { ...noUsage, input: 1000, output: 10 };
  expect(usageIn({ service_tier: "default", usage })).toEqual(expected);
  expect(usageIn({ usage: null, choices: [{ usage: {} }] })).toBeNull();
});

test("Groq's flex has the usual price", () => {
  const usage = { ...noUsage, input: 1000, output: 10 };
  expect(usageIn({ service_tier: "flex", x_groq: { id: "1" }, usage: openAi })).toEqual(usage);
});

test("of two counts for one thing the greater counts, and what the first one had stays", () => {
  const first = { ...noUsage, input: 50_000, output: 1, modes: ["fast"] };
  const second = { ...noUsage, input: 0, output: 10 };
  expect(mergeUsage(first, second)).toEqual({ ...first, output: 10 });
});

test("the raw usage of a provider wins over its own reading, and a gateway's cost over both", () => {
  const usage = { inputTokens: { total: 1000 }, raw: { ...openAi, cached_tokens: 900 } };
  expect(toTokenUsage(usage)).toMatchObject({ input: 100, cacheRead: 900 });
  expect(toTokenUsage(usage, "0.25")).toMatchObject({ billedUsd: 0.25 });
  expect(toTokenUsage(usage, "")).not.toHaveProperty("billedUsd");
});

const usage = { ...noUsage, input: 1_000_000, output: 0 };
const costs: [situation: string, usage: object, more: object, usd: number | null][] = [
  ["no mode", {}, {}, 10],
  ["a mode that services publish", { modes: ["priority"] }, {}, 20],
  ["a mode of the file", { modes: ["fast"] }, { modes: { fast: 6 } }, 60],
  ["a mode without a factor", { modes: ["fast"] }, {}, null],
  ["searches", { searches: 5 }, {}, 10.05],
  ["searches at a model's own price", { searches: 1, isOwnSearch: true }, {}, null],
  [
    "searches at a model's own price of the file",
    { searches: 1, isOwnSearch: true },
    { usdPerSearch: 0.025 },
    10.025,
  ],
  ["no search", { isOwnSearch: true }, {}, 10],
  ["a call of a hosted tool", { calls: { code_interpreter: 2 } }, {}, null],
  [
    "a call at the file's price",
    { calls: { code_interpreter: 2 } },
    { usdPerCall: { code_interpreter: 0.03 } },
    10.06,
  ],
  ["searches at the file's price", { searches: 5 }, { usdPerSearch: 1 }, 15],
  ["the service's cost", { billedUsd: 3, modes: ["fast"] }, {}, 3],
  ["writes for an hour", { input: 0, cacheWrite: 1_000_000, longCacheWrite: 1_000_000 }, {}, 20],
  [
    "a long input",
    {},
    {
      fromInputTokens: [
        { inputTokens: 1000, inputUsdPerMillionTokens: 20 },
        { inputTokens: 2_000_000, inputUsdPerMillionTokens: 40 },
      ],
    },
    20,
  ],
];

test.each(costs)("a cost with %s", (_situation, differences, more, usd) => {
  const cost = findBilledCost({ ...usage, ...differences }, { ...price, ...more });
  expect(cost === null ? null : Number(cost.toFixed(9))).toBe(usd);
});

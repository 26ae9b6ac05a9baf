import { expect, test } from "vitest";
import { usageIn } from "../testing/usage-in.ts";
import { billedCostOf, mergeUsage, noUsage } from "./usage.ts";
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
    { input: 0, isDoubtful: true },
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
  ["a service tier", { service_tier: "flex", usage: openAi }, { modes: ["flex"] }],
  [
    "a speed",
    { usage: { ...openAi, speed: "fast", service_tier: "standard" } },
    { modes: ["fast"] },
  ],
  [
    "searches in an output",
    { response: { output: [{ type: "web_search_call" }, { type: "message" }], usage: openAi } },
    { searches: 1 },
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
  const cost = billedCostOf({ ...usage, ...differences }, { ...price, ...more });
  expect(cost === null ? null : Number(cost.toFixed(9))).toBe(usd);
});

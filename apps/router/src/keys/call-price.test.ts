import { expect, test } from "vitest";
import { toConversation } from "../conversation/conversation.ts";
import type { ReplyPlan, Target } from "../reply/upstream.ts";
import { computeMostTokens } from "../conversation/input-tokens.ts";
import { dearestUsd, expectedTokens } from "./call-price.ts";

const tokens = { input: 1_000_000, output: 100_000 };
const price = { inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 10 };

function planOf(...prices: readonly Target["price"][]): ReplyPlan {
  const targets = prices.map((each) => ({
    model: "maker/model",
    upstream: { type: "openai-chat" },
    price: each,
  }));
  return { targets } as unknown as ReplyPlan;
}

test("a text has no more tokens than bytes", () => {
  expect([computeMostTokens("abcd"), computeMostTokens("東京"), computeMostTokens("")]).toEqual([
    4, 6, 0,
  ]);
});

test("tools and images are input, and the output is what the call allows", () => {
  const plain = toConversation("Hello");
  const input = (change: object) => expectedTokens({ ...plain, ...change }).input;
  const tools = [{ name: "look_up", description: "x".repeat(3000), inputSchema: {} }];
  expect(input({ tools })).toBeGreaterThan(input({}) + 3000);
  const image = { type: "image", url: "data:image/png;base64,AAAA", mediaType: "image/png" };
  const messages = [{ role: "user", parts: [image] }];
  expect(expectedTokens({ ...plain, messages } as never).images).toBe(1);
  expect(expectedTokens(plain).output).toBe(4096);
  expect(expectedTokens({ ...plain, settings: { maxOutputTokens: 50 } }).output).toBe(50);
});

test("names, ids and signatures are input, as far as a model may read them", () => {
  const long = "x".repeat(1000);
  const call = { type: "toolCall" as const, id: "a", name: "b", arguments: "{}", signature: null };
  const input = (change: object) => {
    const parts = [{ ...call, ...change }];
    return expectedTokens({ ...toConversation("Hello"), messages: [{ role: "assistant", parts }] })
      .input;
  };
  for (const field of ["id", "name", "arguments", "signature"]) {
    expect(input({ [field]: long })).toBeGreaterThan(input({}) + 990);
  }
});

test.each([
  ["input and output", [price], 3],
  ["the dearest of its targets", [price, { ...price, inputUsdPerMillionTokens: 5 }, price], 6],
  ["input that is written to a cache", [{ ...price, cacheWriteUsdPerMillionTokens: 2.5 }], 3.5],
  ["input that no cache has", [{ ...price, cacheReadUsdPerMillionTokens: 0.1 }], 3],
])("a plan may cost %s", (_, prices, usd) => {
  expect(dearestUsd(planOf(...prices), tokens, new Map())).toBeCloseTo(usd, 9);
});

test("a plan with a model that always searches costs its search, and is refused without the price of it", () => {
  const plan = (own: object) => {
    const [target] = planOf({ ...price, ...own }).targets;
    return { targets: [{ ...target, model: "gpt-4o-mini-search-preview-2025-03-11" }] as const };
  };
  expect(dearestUsd(plan({ usdPerSearch: 0.025 }), tokens, new Map())).toBeCloseTo(3.025, 9);
  expect(() => dearestUsd(plan({}), tokens, new Map())).toThrow("set its usdPerSearch");
});

test("a plan with a model without a price is refused", () => {
  expect(() => dearestUsd(planOf(price, null), tokens, new Map())).toThrow(
    "there is no price for maker/model: set one in router.config.json.",
  );
});

const fileOf = (url: string) => {
  const part = { type: "file" as const, url, mediaType: "application/pdf", filename: null };
  return { ...toConversation("Hello"), messages: [{ role: "user" as const, parts: [part] }] };
};

test.each(["https://files.example.com/report.pdf", "data:application/pdf;base64,AAAA"])(
  "the document %s has no bound, unless the file has one",
  (url) => {
    const known = expectedTokens(fileOf(url));
    expect(() => dearestUsd(planOf(price), known, new Map())).toThrow("set tokensPerFile");
    const bounded = { ...price, tokensPerFile: 1_000_000 };
    expect(dearestUsd(planOf(bounded), known, new Map())).toBeGreaterThanOrEqual(2);
  },
);

test("the bytes of a text and of a recording are a bound", () => {
  for (const type of ["text/plain", "audio/wav"]) {
    expect(expectedTokens(fileOf(`data:${type};base64,AAAA`)).files).toBe(0);
  }
});

test.each([
  ["input that is kept for an hour", { isLong: true }, {}, 5],
  [
    "a long input at its price",
    {},
    { fromInputTokens: [{ inputTokens: 1000, inputUsdPerMillionTokens: 20 }] },
    21,
  ],
])("a plan may cost %s", (_, more, differences, usd) => {
  const plan = planOf({ ...price, ...differences });
  expect(dearestUsd(plan, { ...tokens, ...more }, new Map())).toBeCloseTo(usd, 9);
});

test("Anthropic's models may write the input to a cache, for a quarter more if no price of it is known", () => {
  const target = (model: string, type: string) =>
    ({ targets: [{ model, upstream: { type }, price }] }) as unknown as ReplyPlan;
  const usd = (plan: ReplyPlan) => dearestUsd(plan, tokens, new Map());
  expect(usd(target("x", "anthropic"))).toBeCloseTo(3.5, 9);
  expect(usd(target("vendor/claude-x", "openai-chat"))).toBeCloseTo(3.5, 9);
  expect(usd(target("openai/gpt-x", "gateway"))).toBeCloseTo(3, 9);
});

test("the gateway adds thinking to the output of Anthropic's models alone", () => {
  const target = (model: string, type: string) =>
    ({ targets: [{ model, upstream: { type }, price }] }) as unknown as ReplyPlan;
  const thinking = { ...tokens, thinking: 100_000 };
  const usd = (plan: ReplyPlan) => dearestUsd(plan, thinking, new Map());
  expect(usd(target("anthropic/claude-x", "gateway"))).toBeCloseTo(2.5 + 2, 9);
  expect(usd(target("openai/gpt-x", "gateway"))).toBeCloseTo(3, 9);
  const { settings, ...plain } = toConversation("Hello");
  const high = expectedTokens({ ...plain, settings: { ...settings, reasoning: "high" } });
  expect(high.thinking).toBe(76_800);
});

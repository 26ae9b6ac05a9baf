import { expect, test } from "vitest";
import { conversationOf } from "../conversation/conversation.ts";
import type { ReplyPlan, Target } from "../reply/upstream.ts";
import { dearestUsd, expectedTokens, tokensOf } from "./call-budget.ts";

const tokens = { input: 1_000_000, output: 100_000 };
const price = { inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 10 };

function planOf(...prices: readonly Target["price"][]): ReplyPlan {
  const targets = prices.map((each) => ({ model: "maker/model", upstream: {}, price: each }));
  return { targets } as unknown as ReplyPlan;
}

test("a text has a token for three of its bytes", () => {
  expect([tokensOf("abcd"), tokensOf("東京"), tokensOf("")]).toEqual([2, 2, 0]);
});

test("tools and images are input, and the output is what the call allows", () => {
  const plain = conversationOf("Hello");
  const input = (change: object) => expectedTokens({ ...plain, ...change }).input;
  const tools = [{ name: "look_up", description: "x".repeat(300), inputSchema: {} }];
  expect(input({ tools })).toBeGreaterThan(input({}) + 100);
  const image = { type: "image", url: "data:image/png;base64,AAAA", mediaType: "image/png" };
  const messages = [{ role: "user", parts: [image] }];
  expect(input({ messages })).toBeGreaterThan(1600);
  expect(expectedTokens(plain).output).toBe(4096);
  expect(expectedTokens({ ...plain, settings: { maxOutputTokens: 50 } }).output).toBe(50);
});

test.each([
  ["input and output", [price], 3],
  ["the dearest of its targets", [price, { ...price, inputUsdPerMillionTokens: 5 }, price], 6],
  ["input that is written to a cache", [{ ...price, cacheWriteUsdPerMillionTokens: 2.5 }], 3.5],
  ["input that no cache has", [{ ...price, cacheReadUsdPerMillionTokens: 0.1 }], 3],
])("a plan may cost %s", (_, prices, usd) => {
  expect(dearestUsd(planOf(...prices), tokens, new Map())).toBeCloseTo(usd, 9);
});

test("a plan with a model without a price is refused", () => {
  expect(() => dearestUsd(planOf(price, null), tokens, new Map())).toThrow(
    "there is no price for maker/model: set one in router.config.json.",
  );
});

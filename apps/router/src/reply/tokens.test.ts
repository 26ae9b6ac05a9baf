import { expect, test } from "vitest";
import { costOf } from "./reply.ts";

const price = { inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 10 };

test("input and output have their own price per million tokens", () => {
  const usage = { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 };
  expect(costOf(usage, price)).toBeCloseTo(0.003, 12);
});

test("a cost that is not known is null, not nothing", () => {
  const usage = { inputTokens: 1, outputTokens: null, totalTokens: null };
  const other = { inputTokens: null, outputTokens: 1, totalTokens: null };
  const whole = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  for (const cost of [costOf(null, price), costOf(usage, price), costOf(other, price)]) {
    expect(cost).toBeNull();
  }
  expect(costOf(whole, null)).toBeNull();
});

import { expect, test } from "vitest";
import { findCost, mergeUsage, noUsage } from "./usage.ts";
import { toTokenUsage } from "./usage-forms.ts";

const uncached = { inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 10 };
const price = {
  ...uncached,
  cacheReadUsdPerMillionTokens: 0.2,
  cacheWriteUsdPerMillionTokens: 2.5,
};

test("cached input has its own prices", () => {
  const usage = { input: 5000, cacheRead: 95_000, cacheWrite: 1000, output: 100, reasoning: 60 };
  expect(findCost(usage, price)).toBeCloseTo(0.01 + 0.019 + 0.0025 + 0.001, 12);
});

test("without a cache price, a read costs as much as other input, and a write a quarter more", () => {
  const usage = { input: 500, cacheRead: 500, cacheWrite: 0, output: 100, reasoning: null };
  expect(findCost(usage, uncached)).toBeCloseTo(0.003, 12);
  expect(findCost({ ...usage, input: 0, cacheWrite: 500 }, uncached)).toBeCloseTo(0.00325, 12);
});

test("a cost that is unknown is null", () => {
  const usage = { ...noUsage, input: 1, output: 1 };
  expect(findCost(usage, price)).toBeCloseTo(0.000012, 12);
  for (const cost of [
    findCost(null, price),
    findCost(usage, null),
    findCost({ ...usage, output: null }, price),
    findCost({ ...usage, input: null }, price),
  ]) {
    expect(cost).toBeNull();
  }
});

const usages: [situation: string, usage: unknown, expected: object][] = [
  [
    "all counts",
    {
      inputTokens: { total: 10, noCache: 5, cacheRead: 4, cacheWrite: 1 },
      outputTokens: { total: 3, text: 1, reasoning: 2 },
    },
    { input: 5, cacheRead: 4, cacheWrite: 1, output: 3, reasoning: 2 },
  ],
  [
    "totals only",
    { inputTokens: { total: 10 }, outputTokens: { total: 3 } },
    { ...noUsage, input: 10, output: 3 },
  ],
  [
    "a total and the cached tokens",
    { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: {} },
    { ...noUsage, input: 6, cacheRead: 4 },
  ],
  [
    "more cached tokens than input",
    { inputTokens: { total: 1, cacheRead: 4 } },
    { ...noUsage, input: 0, cacheRead: 4 },
  ],
  ["negative counts", { inputTokens: { total: -1 }, outputTokens: { total: -3 } }, noUsage],
  ["no numbers", { inputTokens: { total: "1" }, outputTokens: null }, noUsage],
  ["nothing", undefined, noUsage],
];

test.each(usages)("reads a usage with %s", (_situation, usage, expected) => {
  expect(toTokenUsage(usage)).toEqual(expected);
});

test("later counts replace earlier ones unless they are null", () => {
  const earlier = { ...noUsage, input: 5, output: 1 };
  const later = { ...noUsage, output: 7 };
  expect(mergeUsage(earlier, later)).toEqual({ ...noUsage, input: 5, output: 7 });
  expect(mergeUsage(null, later)).toEqual(later);
});

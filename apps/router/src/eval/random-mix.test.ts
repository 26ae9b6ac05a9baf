import { expect, test } from "vitest";
import { mixesOf } from "./figures.ts";

const nano = { quality: 0.5, cost: 1 };
const frontier = { quality: 0.9, cost: 10 };
const middle = { quality: 0.95, cost: 3 };

test.each([
  [1, 0.5, [1, 0]],
  [5.5, 0.7, [0.5, 0.5]],
  [10, 0.9, [0, 1]],
  [12, 0.9, [0, 1]],
  [0, 0.5, [1, 0]],
])("a mix of two tiers that costs %d has the quality %d", (cost, quality, shares) => {
  expect(mixesOf([nano, frontier])(cost)).toEqual({ quality, shares });
});

test("a mix has the best two tiers for its cost", () => {
  expect(mixesOf([nano, middle, frontier])(2)).toEqual({ quality: 0.725, shares: [0.5, 0.5, 0] });
});

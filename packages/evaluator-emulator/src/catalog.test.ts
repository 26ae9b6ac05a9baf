import { expect, test } from "vitest";
import { findModel, models, toDollarString } from "./catalog.ts";

test.each([
  [0, "0"],
  [5e12, "5"],
  [14_112_000, "0.000014112"],
  [1, "0.000000000001"],
  [1.25e12, "1.25"],
  [-5e11, "-0.5"],
])("%d picodollars are %s dollars", (amount, text) => {
  expect(toDollarString(amount)).toBe(text);
});

test("336 input tokens of the evaluation model cost about $0.000014", () => {
  const model = findModel("typesafe-ai/jev");
  const cost = 336 * model.inputPrice + 5 * model.outputPrice;
  expect(toDollarString(cost)).toBe("0.000014112");
});

test("every price is a whole number of picodollars for one token", () => {
  const perToken = models.map(({ inputPrice, outputPrice, cacheReadPrice, cacheWritePrice }) =>
    [inputPrice, outputPrice, cacheReadPrice, cacheWritePrice].filter(
      (price) => price !== undefined,
    ),
  );
  expect(perToken.flat().every(Number.isInteger)).toBe(true);
  const perMillion = perToken.map((prices) =>
    prices.map((price) => Number(toDollarString(price)) * 1e6),
  );
  const listed = [
    [0.042, 0],
    [0.05, 0.4, 0.005],
    [0.1, 0.5, 0.01, 0.125],
    [0.25, 1.5, 0.025],
    [2, 10, 0.1, 2.5],
    [10, 50, 0.25, 12.5],
  ];
  for (const [index, price] of perMillion.flat().entries()) {
    expect(price).toBeCloseTo(listed.flat()[index] ?? Number.NaN, 9);
  }
});

test("the dearest router tier costs 200 times the cheapest on input", () => {
  const dearest = findModel("anthropic/claude-fable-5.1").inputPrice;
  const cheapest = findModel("openai/gpt-5-nano").inputPrice;
  expect(dearest / cheapest).toBeCloseTo(200, 9);
});

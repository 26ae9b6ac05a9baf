import { expect, test } from "vitest";
import { costOfCall, findModel, models, pricePerToken, toDollarString } from "./catalog.ts";

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
  if (model === null) throw new Error("The price list has no evaluation model.");
  const cost = costOfCall(model, { inputTokens: 336, outputTokens: 5 });
  expect(toDollarString(cost)).toBe("0.000014112");
});

test("every price is a whole number of picodollars for one token", () => {
  for (const { inputPerMillion, outputPerMillion } of models) {
    for (const price of [inputPerMillion, outputPerMillion]) {
      expect(Number(toDollarString(pricePerToken(price))) * 1e6).toBeCloseTo(price, 9);
    }
  }
});

test("the dearest router tier costs 200 times the cheapest on input", () => {
  const dearest = findModel("anthropic/claude-fable-5.1")?.inputPerMillion ?? 0;
  const cheapest = findModel("openai/gpt-5-nano")?.inputPerMillion ?? 1;
  expect(dearest / cheapest).toBeCloseTo(200, 9);
});

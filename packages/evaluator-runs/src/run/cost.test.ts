import { boolean, gatewayTransport } from "evaluator-client";
import { expect, test } from "vitest";
import { Budget, RunTotals } from "./cost.ts";

const transport = gatewayTransport({ apiKey: "local", env: {} });
const price = { inputUsdPerMillionTokens: 1, source: "--price" };
const request = { state: "a mail", questions: { scam: boolean("Is it a scam?") } };

test("a call that fails leaves its share of the budget to the next one", () => {
  const perCall = new RunTotals(price).callUsd([request], transport);
  const budget = new Budget(2.5 * perCall, { price, transport });
  const allows = () => budget.allows(() => request);
  expect([allows(), allows(), allows()]).toEqual([true, true, false]);
  budget.ended({ error: "The service is down." });
  expect([allows(), allows()]).toEqual([true, false]);
  expect(budget.isSpent).toBe(true);
});

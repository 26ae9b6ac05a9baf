import { expect, test } from "vitest";
import { estimateCost, mostCostUsd } from "./catalog/estimate-cost.ts";
import { createEvaluator } from "./create-evaluator.ts";
import { budget } from "./middleware/budget.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";
import { ownServer } from "./testing/played-chat.ts";
import { priceProblem } from "./token-price.ts";
import { logprobsTransport } from "./transports/logprobs/logprobs-transport.ts";

const request = scamRequest("text");
const { transport } = countingTransport();
const doors: Readonly<Record<string, (usd: number) => unknown>> = {
  estimateCost: (usd) => estimateCost([request], { inputUsdPerMillionTokens: usd }),
  "the output of estimateCost": (usd) =>
    estimateCost([request], { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: usd }),
  mostCostUsd: (usd) => mostCostUsd(request, { inputUsdPerMillionTokens: usd }),
  budget: (usd) => budget({ maxCostUsd: 1, usdPerMillionTokens: usd }),
  logprobsTransport: (usd) =>
    logprobsTransport({ ...ownServer, price: { inputUsdPerMillionTokens: usd } }),
  "the output of logprobsTransport": (usd) => {
    const price = { inputUsdPerMillionTokens: null, outputUsdPerMillionTokens: usd };
    return logprobsTransport({ ...ownServer, price });
  },
  "a transport of the caller": (usd) =>
    createEvaluator({ transport: { ...transport, usdPerMillionTokens: usd } }),
};

test.each(Object.entries(doors))("%s takes a price of a million tokens alone", (_, open) => {
  const advice = /UsdPerMillionTokens" is the price of one token; .* tokens, here 0\.042\./i;
  expect(() => open(0.000000042)).toThrow(advice);
  expect(() => open(0.00099)).toThrow("here 990.");
  for (const usd of [-1, Number.NaN, Number.POSITIVE_INFINITY, "1" as unknown as number]) {
    expect(() => open(usd)).toThrow(/is not a number of US dollars per million tokens/);
  }
  for (const usd of [0, 0.001, 0.042, 1000]) expect(() => open(usd)).not.toThrow();
});

test("a price has no problem from 0.001 up, and as 0", () => {
  expect([0, 0.001, 75].map(priceProblem)).toEqual([null, null, null]);
});

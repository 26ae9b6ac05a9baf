import { boolean, gatewayTransport, mostCostUsd } from "evaluator-client";
import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

const transport = gatewayTransport({ apiKey: "local", env: {} });
const price = { inputUsdPerMillionTokens: 1, source: "--price" };
const request = { state: "a mail", questions: { scam: boolean("Is it a scam?") } };

/** The most that an attempt about the request may cost. */
const mostUsd = mostCostUsd(request, { inputUsdPerMillionTokens: 1, transport });

function budgetOf(maxUsd: number) {
  const budget = new Budget(maxUsd, { price, transport });
  return { budget, reserve: () => budget.reserve(request) };
}

test("a call that fails leaves its share of the budget to the next one", () => {
  const { budget, reserve } = budgetOf(2.5 * mostUsd);
  const costs = [reserve(), reserve(), reserve()];
  expect(costs.map((cost) => cost !== null)).toEqual([true, true, false]);
  if (costs[0]) budget.ended(costs[0], []);
  expect([reserve() !== null, reserve() !== null]).toEqual([true, false]);
});

test("a call that is to be tried again waits for others to leave money, and one of the last that wait gives up", async () => {
  const { budget, reserve } = budgetOf(3.5 * mostUsd);
  const [one, two, three] = [reserve(), reserve(), reserve()];
  const retries = [one, two].map(async (cost) => cost && (await budget.takeRetry(cost)));
  if (three) budget.ended(three, [0.2 * mostUsd]);
  expect(await Promise.race(retries)).toBe(true);
  if (one) budget.ended(one, []);
  expect(await Promise.all(retries)).toEqual([true, true]);
  const { budget: full, reserve: take } = budgetOf(2.5 * mostUsd);
  const last = [take(), take()];
  const ended = last.map(async (cost) => {
    const isTaken = cost && (await full.takeRetry(cost));
    if (cost) full.ended(cost, [mostUsd]);
    return isTaken;
  });
  expect(await Promise.all(ended)).toEqual([false, false]);
});

test("a call that has ended takes no money for its retry", async () => {
  const { budget, reserve } = budgetOf(2.5 * mostUsd);
  const [one, two] = [reserve(), reserve()];
  const retry = one && budget.takeRetry(one);
  if (one) budget.ended(one, []);
  expect(await retry).toBe(false);
  expect([two !== null, reserve() !== null, reserve()]).toEqual([true, true, null]);
});

test("the tokens of a call are estimated again only if an attempt is lost", () => {
  let times = 0;
  const estimate = () => ({ calls: (times += 1), inputTokens: 1_000, mostInputTokens: 2_000 });
  const budget = new Budget(1, { price, transport: { ...transport, estimate } });
  const cost = budget.reserve(request);
  expect([cost?.mostUsd, cost?.lostUsd, times]).toEqual([0.002, 0, 1]);
});

test("spent costs use up the budget, also those of earlier tries", () => {
  const spentUsd = 1 - 2.5 * mostUsd;
  const budget = new Budget(1, { price, transport, spentUsd });
  const first = budget.reserve(request);
  if (first) budget.ended(first, [mostUsd]);
  expect(budget.heldUsd).toBeCloseTo(1 - 1.5 * mostUsd, 12);
  expect([budget.reserve(request) !== null, budget.reserve(request)]).toEqual([true, null]);
});

test("an answer that costs more than its reservation makes each later one as large", () => {
  const { budget, reserve } = budgetOf(1000 * mostUsd);
  const first = reserve();
  if (first) budget.ended(first, [10 * mostUsd]);
  expect(reserve()?.reservedUsd).toBeCloseTo(10 * mostUsd, 12);
});

import {
  boolean,
  ConnectionError,
  createEvaluator,
  gatewayTransport,
  mostCostUsd,
} from "evaluator-client";
import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

const transport = gatewayTransport({ apiKey: "local", env: {} });
const price = { inputUsdPerMillionTokens: 1, source: "--price" };
const request = { state: "a mail", questions: { scam: boolean("Is it a scam?") } };

/** The most that an attempt about the request may cost. */
const mostUsd = mostCostUsd(request, { inputUsdPerMillionTokens: 1, transport });

function budgetOf(maxUsd: number, spentUsd = 0) {
  const budget = new Budget(maxUsd, { price, transport, spentUsd });
  return { budget, reserve: () => budget.reserveCall(request) };
}

/** A budget of a chunk of a run that has so much left. */
function partOf(maxUsd: number, leftUsd: number, wanted: number[] = []): Budget {
  const reserveUsd = async (usd: number) => {
    wanted.push(usd);
    return Math.min(usd, leftUsd);
  };
  const dearest = { factor: 1 };
  return new Budget(maxUsd, {
    price,
    transport,
    dearest,
    reserveUsd,
    waitForMoney: async () => false,
  });
}

test("a call that fails leaves its share of the budget to the next one", async () => {
  const { budget, reserve } = budgetOf(2.5 * mostUsd);
  const costs = [await reserve(), await reserve(), await reserve()];
  expect(costs.map((cost) => cost !== null)).toEqual([true, true, false]);
  if (costs[0]) budget.ended(costs[0], []);
  expect([(await reserve()) !== null, (await reserve()) !== null]).toEqual([true, false]);
});

test("a call that is to be tried again waits for others to leave money, and one of the last that wait gives up", async () => {
  const { budget, reserve } = budgetOf(3.5 * mostUsd);
  const [one, two, three] = [await reserve(), await reserve(), await reserve()];
  const retries = [one, two].map(async (cost) => cost && (await budget.takeRetry(cost)));
  if (three) budget.ended(three, [0.2 * mostUsd]);
  expect(await Promise.race(retries)).toBe(true);
  if (one) budget.ended(one, []);
  expect(await Promise.all(retries)).toEqual([true, true]);
  const { budget: full, reserve: take } = budgetOf(2.5 * mostUsd);
  const last = [await take(), await take()];
  const ended = last.map(async (cost) => {
    const isTaken = cost && (await full.takeRetry(cost));
    if (cost) full.ended(cost, [mostUsd]);
    return isTaken;
  });
  expect(await Promise.all(ended)).toEqual([false, false]);
});

test.each([
  ["others", () => budgetOf(2.5 * mostUsd).budget],
  ["the store", () => partOf(0, 2.5 * mostUsd)],
])("a call that has ended takes no money for its retry, which waited for %s", async (_, open) => {
  const budget = open();
  const reserve = () => budget.reserveCall(request);
  const [one, two] = [await reserve(), await reserve()];
  const retry = one && budget.takeRetry(one);
  if (one) budget.ended(one, []);
  expect(await retry).toBe(false);
  expect([two !== null, (await reserve()) !== null, await reserve()]).toEqual([true, true, null]);
});

test("the tokens of a call are estimated again only if an attempt is lost", async () => {
  let times = 0;
  const estimate = () => ({ calls: (times += 1), inputTokens: 1_000, mostInputTokens: 2_000 });
  const budget = new Budget(1, { price, transport: { ...transport, estimate } });
  const cost = await budget.reserveCall(request);
  expect([cost?.mostUsd, cost?.lostUsd, times]).toEqual([0.002, 0, 1]);
});

test("spent costs use up the budget, also those of earlier tries", async () => {
  const { budget, reserve } = budgetOf(1, 1 - 2.5 * mostUsd);
  const first = await reserve();
  if (first) budget.ended(first, [mostUsd]);
  expect(budget.heldUsd).toBeCloseTo(1 - 1.5 * mostUsd, 12);
  expect([(await reserve()) !== null, await reserve()]).toEqual([true, null]);
});

test("an answer that costs more than its reservation makes each later one as large", async () => {
  const { budget, reserve } = budgetOf(1000 * mostUsd);
  const first = await reserve();
  if (first) budget.ended(first, [10 * mostUsd]);
  expect((await reserve())?.reservedUsd).toBeCloseTo(10 * mostUsd, 12);
});

test("a run that gets a maximum cost has it from the next call on", async () => {
  const budget = partOf(Infinity, 1.5 * mostUsd);
  const costs = [await budget.reserveCall(request), await budget.reserveCall(request)];
  void budget.limit();
  costs.push(await budget.reserveCall(request));
  expect(costs.map((cost) => cost !== null)).toEqual([true, true, false]);
});

test("a run that gets a maximum has its calls in flight reserved at once, also if no call follows", async () => {
  const wanted: number[] = [];
  const budget = partOf(Infinity, 100 * mostUsd, wanted);
  await Promise.all([budget.reserveCall(request), budget.reserveCall(request)]);
  for (let time = 0; time < 2; time += 1) await budget.limit();
  expect(wanted).toEqual([2 * mostUsd]);
});

test("retries of lost attempts reserve their price in the database too", async () => {
  const budget = partOf(0, 20.5 * mostUsd);
  let sent = 0;
  const send = async () => {
    sent += 1;
    throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
  };
  const clock = {
    now: () => 0,
    epochNow: () => 0,
    schedule(delayMs: number, callback: () => void) {
      if (delayMs > 20_000) return () => {}; // no limit passes
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    },
  };
  const losing = { ...transport, send };
  const evaluator = createEvaluator({ transport: losing, maxRetries: 6 }, { clock });
  const calls = Array.from({ length: 8 }, async () => {
    const cost = await budget.reserveCall(request);
    if (cost === null) return;
    await evaluator
      .with(cost.middleware)
      .evaluate(request)
      .catch(() => {});
    budget.ended(cost, []);
  });
  await Promise.all(calls);
  expect(sent).toBe(20);
});

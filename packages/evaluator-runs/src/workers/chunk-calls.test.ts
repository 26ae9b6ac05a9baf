import {
  boolean,
  ConnectionError,
  createEvaluator,
  gatewayTransport,
  mostCostUsd,
} from "evaluator-client";
import { expect, test } from "vitest";
import { ChunkBudget } from "./chunk-calls.ts";

const transport = gatewayTransport({ apiKey: "local", env: {} });
const price = { inputUsdPerMillionTokens: 1, source: "--price" };
const request = { state: "a mail", questions: { scam: boolean("Is it a scam?") } };
const mostUsd = mostCostUsd(request, { inputUsdPerMillionTokens: 1, transport });

/** A budget of a chunk of a run that has so much left. */
function budgetOf(maxUsd: number, leftUsd: number, wanted: number[] = []): ChunkBudget {
  const reserveUsd = async (usd: number) => {
    wanted.push(usd);
    return Math.min(usd, leftUsd);
  };
  const from = { price, transport, spentUsd: 0, dearest: { factor: 1 }, reserveUsd };
  return new ChunkBudget(maxUsd, { ...from, waitForMoney: async () => false });
}

test("a run that gets a maximum cost has it from the next call on", async () => {
  const budget = budgetOf(Infinity, 1.5 * mostUsd);
  const costs = [await budget.reserveCall(request), await budget.reserveCall(request)];
  void budget.limit();
  costs.push(await budget.reserveCall(request));
  expect(costs.map((cost) => cost !== null)).toEqual([true, true, false]);
});

test("a run that gets a maximum has its calls in flight reserved at once, also if no call follows", async () => {
  const wanted: number[] = [];
  const budget = budgetOf(Infinity, 100 * mostUsd, wanted);
  await Promise.all([budget.reserveCall(request), budget.reserveCall(request)]);
  for (let time = 0; time < 2; time += 1) await budget.limit();
  expect(wanted).toEqual([2 * mostUsd]);
});

test("retries of lost attempts reserve their price in the database too", async () => {
  const budget = budgetOf(0, 20.5 * mostUsd);
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

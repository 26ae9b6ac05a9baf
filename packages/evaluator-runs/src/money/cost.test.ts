import {
  boolean,
  type Evaluation,
  gatewayTransport,
  mostCostUsd,
  type Transport,
} from "evaluator-client";
import { expect, test } from "vitest";
import { openTransport } from "../service.ts";
import { Budget, findPrice, tokensUsd } from "./cost.ts";
import { RunTotals } from "./totals.ts";

const transport = gatewayTransport({ apiKey: "local", env: {} });
const price = { inputUsdPerMillionTokens: 1, source: "--price" };
const request = { state: "a mail", questions: { scam: boolean("Is it a scam?") } };

/** An answer that took a thousand tokens. */
function answer(costUsd: number | null) {
  const usage = { inputTokens: 1000, outputTokens: 0 };
  return { evaluation: { answers: {}, costUsd, usage } as Evaluation };
}

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

test("a million tokens have the price of a million", () => {
  expect(tokensUsd(2_000_000, price)).toBe(2);
});

test("the totals are sums, of the reported costs or else by the tokens", () => {
  const totals = new RunTotals(price);
  totals.add(answer(0.5));
  totals.add(answer(0.25));
  totals.add(answer(null));
  expect(totals).toMatchObject({ succeeded: 3, inputTokens: 3000, costUsd: 0.751 });
});

test("answers without any price have an unknown cost, not none", () => {
  const unknown = new RunTotals({ inputUsdPerMillionTokens: null, source: "" });
  const free = new RunTotals({ inputUsdPerMillionTokens: 0, source: "" });
  for (const totals of [unknown, free]) totals.add(answer(null));
  expect([unknown.isUnpriced, free.isUnpriced]).toEqual([true, false]);
});

test("spent costs use up the budget, also those of earlier tries", () => {
  const spentUsd = 1 - 2.5 * mostUsd;
  const budget = new Budget(1, { price, transport, spentUsd });
  const first = budget.reserve(request);
  if (first) budget.ended(first, [mostUsd]);
  expect(budget.isReserved).toBe(false);
  expect([budget.reserve(request) !== null, budget.reserve(request)]).toEqual([true, null]);
});

test("an answer that costs more than its reservation makes each later one as large", () => {
  const { budget, reserve } = budgetOf(1000 * mostUsd);
  const first = reserve();
  if (first) budget.ended(first, [10 * mostUsd]);
  expect(reserve()?.reservedUsd).toBeCloseTo(10 * mostUsd, 12);
});

test("lost attempts are part of the total", () => {
  const totals = new RunTotals(price);
  totals.add({ ...answer(0.5), lostUsd: 0.25 });
  totals.add({ error: "Lost.", lostUsd: 0.25 });
  expect(totals.costUsd).toBe(1);
});

async function isDocumented(transport: Transport): Promise<boolean> {
  const { signal } = new AbortController();
  const { source } = await findPrice({ given: undefined, catalog: null, transport, signal });
  return source === "the documented price";
}

const logprobs = {
  EVALUATOR_TRANSPORT: "logprobs",
  EVALUATOR_LOGPROBS_BASE_URL: "http://127.0.0.1:11434",
  EVALUATOR_MODEL_ID: "qwen3:4b",
};
const direct = { EVALUATOR_TRANSPORT: "direct", EVALUATOR_DIRECT_API_KEY: "any" };

test.each([
  [{ AI_GATEWAY_API_KEY: "any" }, true],
  [direct, true],
  [{ ...direct, EVALUATOR_DIRECT_BASE_URL: "http://127.0.0.1:8000" }, false],
  [logprobs, false],
])("whether the contract says what %j costs: %s", async (env, isKnown) => {
  const transport = await openTransport({ offline: false, dryRun: false, env });
  expect(await isDocumented(transport)).toBe(isKnown);
});

test("nobody documents what a transport costs that has another name", async () => {
  const env = { AI_GATEWAY_API_KEY: "any" };
  const gateway = await openTransport({ offline: false, dryRun: false, env });
  expect(await isDocumented({ ...gateway, name: "pigeon" })).toBe(false);
  const emulator = await openTransport({ offline: true, dryRun: true, env });
  expect(await isDocumented(emulator)).toBe(true);
});

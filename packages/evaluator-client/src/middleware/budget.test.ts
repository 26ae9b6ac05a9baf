import { setImmediate as untilNext } from "node:timers/promises";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, ConnectionError } from "../errors.ts";
import { mostTokens } from "../transports/call-estimate.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { budget, BudgetError } from "./budget.ts";

type Counting = Parameters<typeof countingTransport>[0];

function limited(options: Parameters<typeof budget>[0], counting: Counting = {}) {
  const { transport, states } = countingTransport(counting);
  const clock = new ManualClock();
  const spent = budget(options);
  const evaluator = createEvaluator({ transport, maxRetries: 0 }, { clock }).with(spent);
  return { evaluator, states, spent, clock };
}

/** How many of so many calls at once succeed. */
async function askAtOnce({ evaluator }: ReturnType<typeof limited>, count: number) {
  const requests = Array.from({ length: count }, (_, index) => scamRequest(`mail ${index}`));
  const batch = evaluator.evaluateMany(requests, { concurrency: count });
  const errors: unknown[] = [];
  for await (const item of batch) if (item.status === "failed") errors.push(item.error);
  expect(errors.filter((error) => !(error instanceof BudgetError))).toEqual([]);
  return batch.totals.succeeded;
}

test("lets one call go first while no price is known", async () => {
  const first = Promise.withResolvers<void>();
  const run = limited({ maxCostUsd: 1 }, { answer: () => first.promise });
  const calls = ["a", "b", "c"].map((state) => run.evaluator.evaluate(scamRequest(state)));
  await untilNext();
  expect(run.states).toEqual(["a"]);
  first.resolve();
  await calls[0];
  await untilNext();
  expect(run.states).toEqual(["a", "b", "c"]);
  await Promise.all(calls);
});

test("never spends more than it holds, however many ask at once", async () => {
  const run = limited({ maxCostUsd: 0.0105 }, { answer: () => untilNext() });
  const succeeded = await askAtOnce(run, 64);
  expect(succeeded).toBeGreaterThan(3);
  expect(run.states).toHaveLength(succeeded);
  expect(run.spent.spending.costUsd).toBeCloseTo(succeeded * 0.001, 9);
  expect(run.spent.spending.costUsd).toBeLessThanOrEqual(0.0105);
  expect(run.spent.spending).toMatchObject({ reservedUsd: 0, reservedTokens: 0 });
});

test("never uses more tokens than it holds, and all of them, however many ask at once", async () => {
  const estimate = mostTokens(scamRequest("mail 0"));
  const answers = Promise.withResolvers<void>();
  const run = limited({ maxTokens: 3 * estimate }, { answer: () => answers.promise });
  const succeeded = askAtOnce(run, 9);
  await untilNext();
  expect(run.spent.spending.reservedTokens).toBe(3 * estimate);
  answers.resolve();
  expect(await succeeded).toBe(3);
});

const mostOfFirst = mostTokens(scamRequest("a"));
const price = { usdPerMillionTokens: 10 };
const mostUsdOfFirst = mostOfFirst * (price.usdPerMillionTokens / 1e6);

test.each([
  { of: "tokens", enough: { maxTokens: mostOfFirst }, tooLittle: { maxTokens: mostOfFirst - 1 } },
  {
    of: "dollars at the given price",
    enough: { maxCostUsd: mostUsdOfFirst, ...price },
    tooLittle: { maxCostUsd: 0.999 * mostUsdOfFirst, ...price },
  },
  {
    of: "dollars at the transport's price",
    prices: price,
    enough: { maxCostUsd: mostUsdOfFirst },
    tooLittle: { maxCostUsd: 0.999 * mostUsdOfFirst },
  },
])("a first call that may take more than the whole budget of $of is not sent", async (row) => {
  const { transport, states } = countingTransport();
  const evaluator = createEvaluator({ transport: { ...transport, ...row.prices }, maxRetries: 0 });
  const tooLittle = budget(row.tooLittle);
  const rejected = evaluator.with(tooLittle).evaluate(scamRequest("a"));
  const [limit] = Object.keys(row.tooLittle);
  await expect(rejected).rejects.toMatchObject({ name: "BudgetError", limit });
  expect(states).toEqual([]);
  expect(tooLittle.spending).toMatchObject({ costUsd: 0, reservedUsd: 0, reservedTokens: 0 });
  await evaluator.with(budget(row.enough)).evaluate(scamRequest("a"));
  expect(states).toEqual(["a"]);
});

test("a wait for the first price ends when the call is aborted", async () => {
  const run = limited({ maxCostUsd: 1 }, { answer: () => new Promise(() => undefined) });
  void run.evaluator.evaluate(scamRequest("a"));
  const controller = new AbortController();
  const second = run.evaluator.evaluate(scamRequest("b"), { signal: controller.signal });
  await untilNext();
  controller.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
});

test("counts tokens", async () => {
  const run = limited({ maxTokens: 600 });
  await run.evaluator.evaluate(scamRequest("a"));
  await run.evaluator.evaluate(scamRequest("b"));
  expect(run.spent.spending.tokens).toBe(206);
  const rejected = run.evaluator.evaluate(scamRequest("c ".repeat(200)));
  await expect(rejected).rejects.toMatchObject({
    name: "BudgetError",
    limit: "maxTokens",
    attempts: 0,
    isRetryable: false,
    spending: { tokens: 206 },
  });
  await expect(rejected).rejects.toThrow("600 tokens, of which 206 are spent. Raise maxTokens");
  expect(run.states).toHaveLength(2);
});

test("names the calls in flight where there are some", async () => {
  const run = limited({ maxTokens: 350 }, { answer: () => new Promise(() => undefined) });
  void run.evaluator.evaluate(scamRequest("a"));
  const rejected = run.evaluator.evaluate(scamRequest("b ".repeat(200)));
  await expect(rejected).rejects.toThrow("0 are spent and the calls in flight may take the rest.");
});

test("over a span, what was spent before it is free again", async () => {
  const run = limited({ maxTokens: 400, spanMs: 60_000 });
  await run.evaluator.evaluate(scamRequest("a"));
  await expect(run.evaluator.evaluate(scamRequest("b"))).rejects.toThrow("in 60 s");
  await run.clock.advance(60_000);
  await run.evaluator.evaluate(scamRequest("b"));
  expect(run.states).toEqual(["a", "b"]);
});

test("over a span, only what is older than it is free again, through many calls", async () => {
  const run = limited({ maxTokens: 100_000, spanMs: 10_000 });
  for (let second = 0; second < 40; second += 1) {
    await run.evaluator.evaluate(scamRequest("a"));
    await run.clock.advance(1000);
    // Checked before each call: those of the ten seconds before it, and itself.
    expect(run.spent.spending.tokens).toBe(103 * Math.min(second + 1, 10));
  }
});

test("over a span, dollars are free again as tokens are", async () => {
  const run = limited({ maxCostUsd: 1, spanMs: 60_000 });
  await run.evaluator.evaluate(scamRequest("a"));
  await run.clock.advance(60_000);
  await run.evaluator.evaluate(scamRequest("b"));
  expect(run.spent.spending.costUsd).toBeCloseTo(0.001, 9);
});

test("is shared by the evaluators and batches around which it is", async () => {
  const shared = budget({ maxTokens: 500 });
  const [one, other] = [countingTransport(), countingTransport({ name: "other" })];
  const first = createEvaluator({ transport: one.transport }).with(shared);
  const second = createEvaluator({ transport: other.transport }).with(shared);
  await first.evaluate(scamRequest("a"));
  for await (const item of second.evaluateMany([scamRequest("b ".repeat(200))])) {
    expect(item).toMatchObject({ status: "failed", error: { name: "BudgetError" } });
  }
  expect(other.states).toEqual([]);
});

test("counts a failed call that may have been charged for, and no other", async () => {
  let maybeBilled = true;
  const answer = async () => {
    throw new ConnectionError("Lost.", { maybeBilled, isRetryable: false });
  };
  const run = limited({ maxCostUsd: 1, usdPerMillionTokens: 10 }, { answer });
  await expect(run.evaluator.evaluate(scamRequest("a"))).rejects.toThrow("Lost.");
  const { costUsd, tokens } = run.spent.spending;
  expect(costUsd).toBeCloseTo((tokens * 10) / 1e6, 12);
  expect(tokens).toBeGreaterThan(0);
  maybeBilled = false;
  await expect(run.evaluator.evaluate(scamRequest("b"))).rejects.toThrow("Lost.");
  expect(run.spent.spending).toMatchObject({ costUsd, tokens });
});

test("counts a call that was aborted on its way, as it may be charged for", async () => {
  const controller = new AbortController();
  const run = limited({ maxTokens: 1000 }, { answer: () => new Promise(() => undefined) });
  const call = run.evaluator.evaluate(scamRequest("a"), { signal: controller.signal });
  await untilNext();
  controller.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  const tokens = mostTokens(scamRequest("a"));
  expect(run.spent.spending).toMatchObject({ tokens, reservedTokens: 0 });
});

test("counts the attempts of another evaluator's error, such as a fallback's", async () => {
  const lost = new ConnectionError("Lost.", { maybeBilled: true, isRetryable: false });
  const { evaluator, spent } = limited({ maxTokens: 10_000 });
  const other = createEvaluator({ transport: countingTransport().transport })
    .with(() => Promise.reject(Object.assign(lost, { attempts: 3 })))
    .with(spent);
  await expect(other.evaluate(scamRequest("a"))).rejects.toThrow("Lost.");
  await evaluator.evaluate(scamRequest("b"));
  expect(spent.spending.tokens).toBe(3 * mostTokens(scamRequest("a")) + 103);
});

test.each<[string, Error]>([
  ["lost", new ConnectionError("Lost.", { maybeBilled: true, isRetryable: false })],
  ["never sent", new ConnectionError("Refused.", { maybeBilled: false, isRetryable: false })],
  ["of the program's own", new TypeError("A bug.")],
])("a failed call, %s, reserves nothing any more", async (_, failure) => {
  const options = { maxTokens: 1000, maxCostUsd: 1, usdPerMillionTokens: 10 };
  const run = limited(options, { answer: () => Promise.reject(failure) });
  await expect(run.evaluator.evaluate(scamRequest("a"))).rejects.toBe(failure);
  expect(run.spent.spending).toMatchObject({ reservedUsd: 0, reservedTokens: 0 });
});

test("takes the given price where the service reports none", async () => {
  const run = limited({ maxCostUsd: 1, usdPerMillionTokens: 10 }, { costUsd: null });
  await run.evaluator.evaluate(scamRequest("a"));
  expect(run.spent.spending.costUsd).toBeCloseTo(0.00103, 12);
});

test("rejects further calls if no price is known", async () => {
  const run = limited({ maxCostUsd: 1 }, { costUsd: null });
  expect(await askAtOnce(run, 3)).toBe(1);
  const rejected = run.evaluator.evaluate(scamRequest("b"));
  await expect(rejected).rejects.toThrow("Set usdPerMillionTokens, or maxTokens");
  expect(run.states).toHaveLength(1);
});

test("takes the dearest price so far for an answer that tells none, as a fallback's may", async () => {
  const spent = budget({ maxCostUsd: 1 });
  const evaluators = [0.002, 0.0001, null].map((costUsd) => {
    const { transport } = countingTransport({ costUsd });
    return createEvaluator({ transport, maxRetries: 0 }).with(spent);
  });
  for (const evaluator of evaluators) await evaluator.evaluate(scamRequest("a"));
  expect(spent.spending.costUsd).toBeGreaterThan(0.0036);
});

test.each([
  [{}, "maxCostUsd"],
  [{ maxCostUsd: 0 }, "maxCostUsd"],
  [{ maxTokens: 1.5 }, "maxTokens"],
  [{ maxTokens: 1, spanMs: -1 }, "spanMs"],
  [{ maxCostUsd: 1, usdPerMillionTokens: -1 }, "usdPerMillionTokens"],
])("rejects %j by the option's name", (options, name) => {
  const make = () => budget(options);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(name);
});

import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConnectionError, RefusalError } from "../errors.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { escalating, request } from "../testing/escalating.ts";
import { budget } from "./budget.ts";
import { cache } from "./cache.ts";
import { fallback } from "./fallback.ts";

const lost = () =>
  Promise.reject(new ConnectionError("Cut.", { isRetryable: false, maybeBilled: true }));

test("a budget around both reserves the second call, and counts both", async () => {
  const spent = budget({ maxTokens: 10_000 });
  const reserved: number[] = [];
  const before = async () => void reserved.push(spent.spending.reservedTokens);
  const run = escalating({ first: { before }, second: { before } });
  await run.evaluator.with(spent).evaluate(request);
  expect(reserved[1]).toBe(2 * (reserved[0] as number));
  expect(spent.spending).toMatchObject({ tokens: 206, reservedTokens: 0, reservedUsd: 0 });
  expect(spent.spending.costUsd).toBeCloseTo(0.011, 9);
});

test("a budget without room for the second call leaves the first answer, and nothing more is sent", async () => {
  const spent = budget({ maxTokens: 450 });
  const run = escalating();
  const evaluation = await run.evaluator.with(spent).evaluate(request);
  expect(run.askedAgain).toEqual([]);
  expect(evaluation.route?.scam.failure).toContain("BudgetError");
  expect(spent.spending.tokens).toBe(103);
});

test("a budget reserves the second call at its own price, if that is known beforehand", async () => {
  const run = async (maxCostUsd: number) => {
    const spent = budget({ maxCostUsd });
    const reserved: number[] = [];
    const before = async () => void reserved.push(spent.spending.reservedUsd);
    const engines = escalating({
      first: { before },
      second: { before, usdPerMillionTokens: 1000 },
    });
    const evaluator = engines.evaluator.with(spent);
    await evaluator.evaluate(request);
    const { route } = await evaluator.evaluate(request);
    return { reserved, route, spent: spent.spending.costUsd, times: engines.askedAgain.length };
  };
  const { reserved, times } = await run(10);
  const [, second = 0, third = 0, fourth = 0] = reserved;
  // The first call has no price yet; the second engine's is known before it is asked.
  expect(second).toBeGreaterThan(0.1);
  expect(third).toBeCloseTo(second, 9);
  expect(fourth).toBeCloseTo(2 * second, 9);
  expect(times).toBe(2);
  const capped = await run(1.5 * second);
  expect(capped.times).toBe(1);
  expect(capped.route?.scam.failure).toContain("BudgetError");
  expect(capped.spent).toBeLessThanOrEqual(1.5 * second);
});

test("a budget reserves all calls that the second evaluator makes of an attempt", async () => {
  const most = 5000;
  const estimate = () => ({ calls: 16, inputTokens: 2000, mostInputTokens: most });
  const ask = async (maxTokens: number, usage: object | null) => {
    const spent = budget({ maxTokens });
    let reserved = 0;
    const before = async () => void (reserved = spent.spending.reservedTokens);
    const run = escalating({ second: { before, estimate, usage } });
    const { route } = await run.evaluator.with(spent).evaluate(request);
    return { reserved, tokens: spent.spending.tokens, step: route?.scam.step };
  };
  const whole = await ask(10_000, null);
  expect(whole).toMatchObject({ tokens: 103 + most, step: 2 });
  expect(whole.reserved).toBeGreaterThan(most);
  expect(await ask(whole.reserved - 1, null)).toEqual({ reserved: 0, tokens: 103, step: 1 });
});

test.each([
  ["broken", { scam: { type: "boolean", probability: 2 } }],
  ["refused", { scam: { type: "refusal" } }],
])("a budget counts the %s answer of an evaluator whose fallback answers", async (_, answers) => {
  const spent = budget({ maxTokens: 10_000 });
  const reserved: number[] = [];
  const before = async () => void reserved.push(spent.spending.reservedTokens);
  const broken = escalating({ first: { answers, before }, bounds: {} }).evaluator;
  const { transport } = countingTransport({ answer: before });
  const helper = createEvaluator({ transport });
  const evaluator = broken.with(fallback(helper, { on: () => true })).with(spent);
  await evaluator.evaluate(scamRequest("a"));
  const [each = 0] = reserved;
  expect(reserved).toEqual([each, 2 * each]);
  expect(spent.spending).toMatchObject({ tokens: each + 103, reservedTokens: 0 });
});

test("a budget counts a second call whose answer was lost", async () => {
  const spent = budget({ maxTokens: 1000, usdPerMillionTokens: 1 });
  let reserved = 0;
  const before = async () => void (reserved = spent.spending.reservedTokens);
  const run = escalating({ first: { before }, second: { before: lost } });
  await run.evaluator.with(spent).evaluate(request);
  expect(spent.spending.tokens).toBe(103 + reserved);
  expect(spent.spending.costUsd).toBeCloseTo(0.001 + reserved / 1e6, 9);
});

test.each([
  ["an error of configuration", { isClosed: true, each: 1 }],
  ["an abort on the way", { isClosed: false, each: 2 }],
])("a budget counts the first call, whose answer is lost to %s", async (_, { isClosed, each }) => {
  const spent = budget({ maxTokens: 10_000 });
  let reserved = 0;
  const controller = new AbortController();
  const first = { before: async () => void (reserved = spent.spending.reservedTokens) };
  const run = escalating({
    first,
    second: { before: async () => controller.abort(new Error("no")) },
  });
  if (isClosed) await run.next.close();
  const { signal } = controller;
  await expect(run.evaluator.with(spent).evaluate(request, { signal })).rejects.toThrow(
    /closed|no/,
  );
  expect(spent.spending).toMatchObject({ tokens: each * reserved, reservedTokens: 0 });
});

test("an unknown price of one evaluator does not hide the other's from a budget", async () => {
  const spent = budget({ maxCostUsd: 1, usdPerMillionTokens: 1000 });
  await escalating({ second: { costUsd: null } })
    .evaluator.with(spent)
    .evaluate(request);
  expect(spent.spending.costUsd).toBeCloseTo(0.001 + 103 * 0.001, 9);
});

test("a cache around both keeps whole answers, at no price, and none that waits for a better one", async () => {
  let fails = true;
  const run = escalating({ second: { before: () => (fails ? lost() : Promise.resolve()) } });
  const spent = budget({ maxTokens: 10_000 });
  const cached = run.evaluator.with(cache()).with(spent);
  expect((await cached.evaluate(request)).route?.scam.step).toBe(1);
  fails = false;
  expect((await cached.evaluate(request)).route?.scam.step).toBe(2);
  const { tokens } = spent.spending;
  const hit = await cached.evaluate(request);
  expect(hit).toMatchObject({ route: { scam: { step: 2 } }, costUsd: 0, timing: { attempts: 0 } });
  expect(spent.spending.tokens).toBe(tokens);
  expect(run.asked).toHaveLength(2);
});

test("a budget around a fallback counts the lost attempts of both, and reserves each", async () => {
  const spent = budget({ maxTokens: 10_000 });
  const reserved: number[] = [];
  const answer = async () => {
    reserved.push(spent.spending.reservedTokens);
    if (reserved.length < 4)
      throw new ConnectionError("Cut.", { isRetryable: true, maybeBilled: true });
  };
  const { transport } = countingTransport({ answer });
  const quick = { initialDelayMs: 1, maxDelayMs: 1 };
  const other = createEvaluator({ transport, retry: quick });
  const evaluator = createEvaluator({ transport, maxRetries: 1, retry: quick });
  await evaluator.with(fallback(other)).with(spent).evaluate(scamRequest("a"));
  const [each = 0] = reserved;
  expect(reserved).toEqual([each, 2 * each, 3 * each, 4 * each]);
  expect(spent.spending).toMatchObject({ tokens: 3 * each + 103, reservedTokens: 0 });
});

test("a refusal of the first evaluator ends the call, with its other answers", async () => {
  const run = escalating({ first: { answers: { scam: 0.6, deal: { type: "refusal" } } } });
  const refusal = await run.ask().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RefusalError);
  expect(refusal).toMatchObject({ answers: { scam: { probability: 0.6 } }, costUsd: 0.001 });
  expect(run.askedAgain).toEqual([]);
});

import { expect, test } from "vitest";
import { sleep } from "../clock.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { ConnectionError, TimeoutError } from "../errors.ts";
import type { Evaluator, Middleware } from "../evaluator.ts";
import type { EvaluateOptions, EvaluatorOptions } from "../evaluator-options.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { hashedCache } from "../testing/hashed-cache.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { budget } from "./budget.ts";
import type { EvaluationStore } from "./cache.ts";
import { fallback } from "./fallback.ts";

/** Evaluators on one clock, over transports whose answers take so long or are these failures. */
function played() {
  const clock = new ManualClock();
  const evaluatorOver = (answer: () => Promise<unknown>, options: EvaluatorOptions = {}) => {
    const { transport, states } = countingTransport({ answer });
    return { states, evaluator: createEvaluator({ transport, ...options }, { clock }) };
  };
  const after = (ms: number) => () => sleep(ms, { clock });
  /** Asks, and returns the outcome with its time; at most ten minutes pass. */
  const ask = (evaluator: Evaluator, options: EvaluateOptions = {}, state = "a") => {
    const startedAtMs = clock.now();
    return evaluator
      .evaluate(scamRequest(state), options)
      .catch((error: unknown) => error)
      .then((outcome) => ({ outcome, ms: clock.now() - startedAtMs }));
  };
  return { clock, evaluatorOver, after, ask };
}

const broken = () =>
  Promise.reject(new ConnectionError("Cut.", { isRetryable: true, maybeBilled: true }));

function expectDeadline(outcome: unknown, timeoutMs: number, maybeBilled: boolean) {
  expect(outcome).toBeInstanceOf(TimeoutError);
  expect(outcome).toMatchObject({ limit: "deadline", timeoutMs, maybeBilled });
}

test("a call that waits in a budget for the first price ends at its deadline, and sends nothing", async () => {
  const { clock, evaluatorOver, after, ask } = played();
  const { evaluator, states } = evaluatorOver(after(3000));
  const limited = evaluator.with(budget({ maxCostUsd: 1 }));
  const first = ask(limited);
  const second = ask(limited, { deadlineMs: 300 }, "b");
  await clock.advance(10_000);
  const { outcome, ms } = await second;
  expectDeadline(outcome, 300, false);
  expect(ms).toBe(300);
  expect((await first).outcome).toHaveProperty("answers");
  expect(states).toEqual(["a"]);
});

test("a call that joined another in a cache ends at its own deadline", async () => {
  const { clock, evaluatorOver, after, ask } = played();
  const { evaluator, states } = evaluatorOver(after(3000));
  const cached = evaluator.with(hashedCache());
  const first = ask(cached);
  const second = ask(cached, { deadlineMs: 300 });
  await clock.advance(10_000);
  const { outcome, ms } = await second;
  expectDeadline(outcome, 300, false);
  expect(ms).toBe(300);
  expect((await first).outcome).toHaveProperty("answers");
  expect(states).toEqual(["a"]);
});

const anAnswer = { answers: { scam: { probability: 0.04 } } };

test.each<[string, EvaluateOptions, EvaluateOptions, object, number]>([
  [
    "more time for an attempt",
    { attemptTimeoutMs: 50, maxRetries: 0 },
    { maxRetries: 0 },
    anAnswer,
    2,
  ],
  [
    "more retries",
    { maxRetries: 0, attemptTimeoutMs: 50 },
    { maxRetries: 3, attemptTimeoutMs: 50 },
    { name: "TimeoutError", attempts: 4 },
    5,
  ],
])(
  "a call with %s than the one that it joined asks again",
  async (_, one, other, expected, requests) => {
    const { clock, evaluatorOver, after, ask } = played();
    const { evaluator, states } = evaluatorOver(after(200));
    const cached = evaluator.with(hashedCache());
    const [first, second] = [ask(cached, one), ask(cached, other)];
    await clock.advance(60_000);
    expect((await first).outcome).toBeInstanceOf(TimeoutError);
    const { outcome } = await second;
    expect(outcome).toMatchObject(expected);
    expect(states).toHaveLength(requests);
  },
);

test("a call asks again if the one that it joined had no time for a pause", async () => {
  const { clock, evaluatorOver, after, ask } = played();
  const { evaluator, states } = evaluatorOver(after(100));
  const details = { timeoutMs: 50, limit: "deadline", maybeBilled: false } as const;
  const paused: Middleware = async (request, next, { limits }) => {
    await after(10)();
    if (limits.deadlineMs < 1000) throw new TimeoutError("It was not sent.", details);
    return await next(request);
  };
  const cached = evaluator.with(paused).with(hashedCache());
  const [first, second] = [ask(cached, { deadlineMs: 50 }), ask(cached)];
  await clock.advance(1000);
  expectDeadline((await first).outcome, 50, false);
  expect((await second).outcome).toMatchObject(anAnswer);
  expect(states).toEqual(["a"]);
});

test("calls with the same limits share a failure: a service that is down is not asked by each", async () => {
  const { clock, evaluatorOver, ask } = played();
  const { evaluator, states } = evaluatorOver(broken);
  const cached = evaluator.with(hashedCache());
  const asked = Array.from({ length: 20 }, () => ask(cached));
  await clock.advance(60_000);
  for (const { outcome } of await Promise.all(asked))
    expect(outcome).toBeInstanceOf(ConnectionError);
  expect(states).toHaveLength(3);
});

test("a fallback has the rest of the call's time", async () => {
  const { clock, evaluatorOver, after, ask } = played();
  const helper = evaluatorOver(after(4000));
  const { evaluator } = evaluatorOver(() => after(200)().then(broken), { maxRetries: 0 });
  const asked = ask(evaluator.with(fallback(helper.evaluator)), { deadlineMs: 500 });
  await clock.advance(10_000);
  const { outcome, ms } = await asked;
  expectDeadline(outcome, 500, true);
  expect(ms).toBe(500);
  expect(helper.states).toEqual(["a"]);
});

test("a budget counts what a fallback may have been billed for when the time ran out", async () => {
  const { clock, evaluatorOver, after, ask } = played();
  const helper = evaluatorOver(after(4000));
  const { evaluator } = evaluatorOver(
    () => Promise.reject(new ConnectionError("No.", { isRetryable: true, maybeBilled: false })),
    { maxRetries: 0 },
  );
  const spent = budget({ maxTokens: 1_000_000 });
  const asked = ask(evaluator.with(fallback(helper.evaluator)).with(spent), { deadlineMs: 500 });
  await clock.advance(10_000);
  expectDeadline((await asked).outcome, 500, true);
  expect(spent.spending.tokens).toBeGreaterThan(10);
  expect(spent.spending.reservedTokens).toBe(0);
});

async function never() {
  await new Promise(() => undefined);
}

const waiting: Middleware = async (request, next) => {
  await never();
  return next(request);
};

test("a middleware that waits on does not keep its call past the deadline, nor past an abort", async () => {
  const { clock, evaluatorOver, ask } = played();
  const { evaluator, states } = evaluatorOver(async () => undefined);
  const asked = ask(evaluator.with(waiting), { deadlineMs: 300 });
  const controller = new AbortController();
  const aborted = ask(evaluator.with(waiting), { signal: controller.signal });
  await clock.advance(100);
  controller.abort("enough");
  await clock.advance(1000);
  const { outcome, ms } = await asked;
  expectDeadline(outcome, 300, false);
  expect(ms).toBeLessThan(320);
  const end = await aborted;
  expect(end.outcome).toBe("enough");
  expect(end.ms).toBeLessThan(120);
  expect(states).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test("a middleware that goes on after the deadline sends nothing", async () => {
  const { clock, evaluatorOver, after, ask } = played();
  const { evaluator, states } = evaluatorOver(async () => undefined);
  let late: unknown;
  const slow: Middleware = async (request, next) => {
    await after(400)();
    return next(request).catch((error: unknown) => {
      late = error;
      throw error;
    });
  };
  const asked = ask(evaluator.with(slow), { deadlineMs: 300 });
  await clock.advance(1000);
  expectDeadline((await asked).outcome, 300, false);
  expectDeadline(late, 300, false);
  expect(states).toEqual([]);
});

test.each<[string, EvaluationStore, object, string[]]>([
  ["get", { get: never, set: () => undefined }, { limit: "deadline", maybeBilled: false }, []],
  ["set", { get: () => undefined, set: never }, anAnswer, ["a"]],
])(
  "a store whose %s never ends loses no answer that was paid",
  async (_, store, expected, sent) => {
    const { clock, evaluatorOver, ask } = played();
    const { evaluator, states } = evaluatorOver(async () => undefined);
    const cached = evaluator.with(hashedCache({ store }));
    const asked = ask(cached, { deadlineMs: 300 });
    await clock.advance(1000);
    const { outcome, ms } = await asked;
    expect(ms).toBeLessThan(320);
    expect(outcome).toMatchObject(expected);
    expect(states).toEqual(sent);
  },
);

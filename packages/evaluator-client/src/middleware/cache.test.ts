import process from "node:process";
import { setImmediate as untilNext } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { sleep } from "../clock.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { AuthenticationError, ConfigurationError, TimeoutError } from "../errors.ts";
import { boolean } from "../questions/kinds.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { hashedCache } from "../testing/hashed-cache.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { statusDetails } from "../testing/status-details.ts";
import { budget } from "./budget.ts";
import { cache } from "./cache.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

type Counting = Parameters<typeof countingTransport>[0];

function cached(options: Parameters<typeof cache>[0] = {}, counting: Counting = {}) {
  const { transport, states } = countingTransport(counting);
  const kept = hashedCache(options);
  const evaluator = createEvaluator({ transport, maxRetries: 0 }).with(kept);
  return { evaluator, states, savings: kept.savings };
}

test("asks the same once, and says what the second time cost and saved", async () => {
  const { evaluator, states, savings } = cached();
  const first = await evaluator.evaluate(scamRequest("a"));
  const second = await evaluator.evaluate(scamRequest("a"));
  expect(states).toEqual(["a"]);
  expect(second.answers).toEqual(first.answers);
  expect([first.costUsd, second.costUsd]).toEqual([0.001, 0]);
  expect(second.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  expect([first.timing.attempts, second.timing.attempts]).toEqual([1, 0]);
  expect(savings).toEqual({ hits: 1, joined: 0, misses: 1, inputTokens: 100, costUsd: 0.001 });
});

test("keeps what differs in state, question or address apart", async () => {
  const store = new Map();
  const { evaluator, states } = cached({ store });
  const other = cached({ store }, { name: "other" });
  await evaluator.evaluate(scamRequest("a"));
  await evaluator.evaluate(scamRequest("b"));
  await evaluator.evaluate({ state: "a", questions: { scam: boolean("Is it really a scam?") } });
  await other.evaluator.evaluate(scamRequest("a"));
  expect([states, other.states]).toEqual([["a", "b", "a"], ["a"]]);
  expect(store.size).toBe(4);
});

const target = { url: "https://one.example/v1", modelId: "one" };

test.each([
  ["address", { target: { ...target, url: "https://two.example/v1" } }],
  ["model", { target: { ...target, modelId: "two" } }],
  ["format of prompts", { target: { ...target, format: "two" } }],
  ["transport", { name: "two" }],
])("keeps what differs in nothing but its %s apart", async (_, differs) => {
  const kept = cache();
  const service = countingTransport();
  const ask = (other: object) =>
    createEvaluator({ transport: { ...service.transport, target, ...other } })
      .with(kept)
      .evaluate(scamRequest("a"));
  await ask({});
  await ask(differs);
  await ask({});
  expect(service.states).toEqual(["a", "a"]);
  expect(kept.savings).toMatchObject({ hits: 1, misses: 2 });
});

test("in front of a budget it answers what it knows, also once that is spent", async () => {
  const { transport, states } = countingTransport();
  const spent = budget({ maxTokens: 400 });
  const evaluator = createEvaluator({ transport }).with(spent).with(cache());
  const request = scamRequest("a");
  for (const _ of [1, 2, 3]) await evaluator.evaluate(request);
  await expect(evaluator.evaluate(scamRequest("b"))).rejects.toThrow("Raise maxTokens");
  expect(spent.spending.tokens).toBe(103);
  expect(states).toEqual(["a"]);
});

test("what a caller changes in an evaluation stays with that caller", async () => {
  const { evaluator } = cached();
  for (const _ of [1, 2, 3]) {
    const { answers } = await evaluator.evaluate(scamRequest("a"));
    expect(answers.scam.probability).toBe(0.04);
    answers.scam.probability = 1;
  }
});

test("joins identical calls in flight, in a batch too", async () => {
  const answered = Promise.withResolvers<void>();
  const { evaluator, states, savings } = cached({}, { answer: () => answered.promise });
  const batch = evaluator.evaluateMany(["a", "b", "a", "a"].map(scamRequest), { concurrency: 4 });
  const first = batch.next();
  await untilNext();
  answered.resolve();
  expect((await first).value).toMatchObject({ status: "succeeded" });
  for await (const item of batch) expect(item.status).toBe("succeeded");
  expect(new Set(states)).toEqual(new Set(["a", "b"]));
  expect(states).toHaveLength(2);
  expect(savings).toMatchObject({ hits: 0, joined: 2, misses: 2 });
  expect(batch.totals.costUsd).toBe(0.002);
});

test("a call that is aborted ends alone: one of those that joined it asks again", async () => {
  const answers: PromiseWithResolvers<void>[] = [];
  const answer = () => {
    answers.push(Promise.withResolvers<void>());
    return answers.at(-1)?.promise ?? Promise.resolve();
  };
  const { evaluator, states } = cached({}, { answer });
  const [first, third] = [new AbortController(), new AbortController()];
  const one = evaluator.evaluate(scamRequest("a"), { signal: first.signal });
  await expect.poll(() => states).toEqual(["a"]);
  const two = evaluator.evaluate(scamRequest("a"));
  const three = evaluator.evaluate(scamRequest("a"), { signal: third.signal });
  const four = evaluator.evaluate(scamRequest("a"));
  third.abort(new Error("three leaves"));
  await expect(three).rejects.toThrow("three leaves");
  first.abort(new Error("one leaves"));
  await expect(one).rejects.toThrow("one leaves");
  await untilNext();
  expect(answers).toHaveLength(2);
  answers[1]?.resolve();
  const [asked, other] = await Promise.all([two, four]);
  expect((asked.costUsd ?? 0) + (other.costUsd ?? 0)).toBe(0.001);
  expect(states).toEqual(["a", "a"]);
});

test("a failure is everybody's who waits for it, and is not kept", async () => {
  let isWrongKey = true;
  const answer = async () => {
    if (isWrongKey) await untilNext();
    if (isWrongKey) {
      const details = statusDetails(401, { isRetryable: false });
      throw new AuthenticationError("Wrong key.", details);
    }
  };
  const { evaluator, states } = cached({}, { answer });
  const both = await Promise.allSettled(
    ["a", "a"].map((state) => evaluator.evaluate(scamRequest(state))),
  );
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(states).toEqual(["a"]);
  isWrongKey = false;
  await evaluator.evaluate(scamRequest("a"));
  expect(states).toEqual(["a", "a"]);
});

test("its memory is bounded: what was used longest ago is asked again", async () => {
  const { evaluator, states } = cached({ maxEntries: 2 });
  for (const state of ["a", "b", "a", "c", "a", "b"]) await evaluator.evaluate(scamRequest(state));
  expect(states).toEqual(["a", "b", "c", "b"]);
});

test("its memory does not grow with hits", async () => {
  const { evaluator, savings } = cached();
  const askAll = async (rounds: number) => {
    for (let hit = 0; hit < rounds * 100; hit += 1)
      await evaluator.evaluate(scamRequest(String(hit % 100)));
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await askAll(20);
  expect((await askAll(100)) - before).toBeLessThan(500_000);
  expect(savings.misses).toBe(100);
});

test.each([
  ["nothing", undefined],
  ["text", "quagga"],
  ["an answer to another question", { answers: { other: { type: "boolean", probability: 0 } } }],
  ["a probability over 1", (kept: string) => kept.replace("0.04", "1.04")],
])("what a store returns is checked: %s is asked for", async (_, stored) => {
  const kept = new Map<string, string>();
  const store = {
    get: async (key: string) => {
      if (typeof stored !== "function") return stored;
      const text = kept.get(key);
      return text === undefined ? undefined : JSON.parse(stored(text));
    },
    set: async (key: string, evaluation: unknown) => kept.set(key, JSON.stringify(evaluation)),
  };
  const { evaluator, states } = cached({ store });
  const first = await evaluator.evaluate(scamRequest("a"));
  const second = await evaluator.evaluate(scamRequest("a"));
  expect(second.answers).toEqual(first.answers);
  expect(states).toEqual(["a", "a"]);
});

test("a store that fails costs no answer, and is reported", async () => {
  const failures: unknown[] = [];
  const error = new Error("The disk is full.");
  const store = { get: () => Promise.reject(error), set: () => Promise.reject(error) };
  const { evaluator } = cached({ store, onStoreError: (failure) => failures.push(failure) });
  expect((await evaluator.evaluate(scamRequest("a"))).answers.scam.probability).toBe(0.04);
  expect(failures).toEqual([error, error]);
});

test.each([{ maxEntries: 0 }, { store: {} }, { onStoreError: "print" }])(
  "rejects %j by the option's name",
  (options) => {
    const make = () => cache(options as never);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(Object.keys(options)[0]);
  },
);

test("keys are the digests of the given hash", async () => {
  const store = new Map<string, unknown>();
  const { transport } = countingTransport({});
  const sha256 = async () => new Uint8Array([1, 171]).buffer;
  const evaluator = createEvaluator({ transport }).with(cache({ store }, { sha256 }));
  await evaluator.evaluate(scamRequest("a"));
  expect([...store.keys()]).toEqual(["01ab"]);
});

test("a call with more time asks again if the one that it joined had too little", async () => {
  const clock = new ManualClock();
  const { transport, states } = countingTransport({ answer: () => sleep(100, { clock }) });
  const evaluator = createEvaluator({ transport }, { clock }).with(hashedCache());
  const short = evaluator.evaluate(scamRequest("a"), { deadlineMs: 50 });
  const long = evaluator.evaluate(scamRequest("a"));
  const failure = short.catch((error: unknown) => error);
  await untilNext();
  await clock.advance(50);
  expect(await failure).toBeInstanceOf(TimeoutError);
  await clock.advance(100);
  expect((await long).answers.scam.probability).toBe(0.04);
  expect(states).toEqual(["a", "a"]);
});

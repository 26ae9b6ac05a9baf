import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { InvalidRequestError } from "../errors.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import {
  answersByHand,
  endlessly,
  evaluationOf,
  requestFor,
  settled,
} from "../testing/batch-by-hand.ts";
import { countingTransport } from "../testing/counting-transport.ts";
import { runBatch } from "./run-batch.ts";

test("gives outcomes in input order, whatever the order of the answers", async () => {
  const { open, evaluateUntil } = answersByHand();
  const requests = [requestFor(0), requestFor(1), requestFor(2)];
  const batch = runBatch({
    requests,
    limits: { concurrency: 3 },
    signal: undefined,
    evaluateUntil,
  });
  const taken: unknown[] = [];
  const consumed = (async () => {
    for await (const item of batch) taken.push(item);
  })();
  await settled();
  open.get("2")?.answer();
  open.get("1")?.fail(new InvalidRequestError("No."));
  await settled();
  expect(taken).toEqual([]);
  expect(batch.totals).toMatchObject({ succeeded: 1, failed: 1 });
  open.get("0")?.answer();
  await consumed;
  expect(taken).toMatchObject([
    { index: 0, status: "succeeded", evaluation: { raw: "0" } },
    { index: 1, status: "failed", error: { name: "InvalidRequestError" } },
    { index: 2, status: "succeeded", evaluation: { raw: "2" } },
  ]);
  expect(batch.totals).toEqual({
    succeeded: 2,
    failed: 1,
    inputTokens: 20,
    outputTokens: 2,
    costUsd: 1,
    waitMs: 0,
  });
});

test("keeps to its concurrency, and reads no further than it may be ahead", async () => {
  const { open, seen, evaluateUntil } = answersByHand();
  const read: number[] = [];
  const requests = endlessly(read);
  const limits = { concurrency: 3, readAhead: 6 };
  const batch = runBatch({ requests, limits, signal: undefined, evaluateUntil });
  expect(read).toEqual([]);
  const first = batch.next();
  await settled();
  expect(read).toEqual([0, 1, 2]);
  // A consumer that takes nothing more stops the reading, however fast the answers are.
  for (let round = 0; round < 10; round += 1) {
    for (const call of open.values()) call.answer();
    await settled();
  }
  expect(await first).toMatchObject({ value: { index: 0 } });
  // One was taken, and six wait to be.
  expect(read).toHaveLength(7);
  expect(seen.most).toBe(3);
  await batch.return(undefined);
});

test("cancels what is in flight and closes the input when the consumer leaves", async () => {
  const { open, seen, evaluateUntil } = answersByHand();
  let isClosed = false;
  async function* source() {
    try {
      yield* endlessly();
    } finally {
      isClosed = true;
    }
  }
  const batch = runBatch({
    requests: source(),
    limits: { concurrency: 2 },
    signal: undefined,
    evaluateUntil,
  });
  const consumed = (async () => {
    for await (const item of batch) return item.index;
    return null;
  })();
  await settled();
  open.get("0")?.answer();
  expect(await consumed).toBe(0);
  await settled();
  expect(isClosed).toBe(true);
  expect(seen.aborted).toBeGreaterThanOrEqual(2);
  expect(seen.most).toBe(2);
});

test("throws the caller's reason at once, even while the input keeps it waiting", async () => {
  const controller = new AbortController();
  const reason = { why: "enough" };
  async function* hanging() {
    yield requestFor(0);
    await new Promise(() => undefined);
  }
  const { evaluateUntil } = answersByHand();
  const { signal } = controller;
  const batch = runBatch({
    requests: hanging(),
    limits: { concurrency: 2 },
    signal,
    evaluateUntil,
  });
  const next = batch.next().catch((error: unknown) => error);
  await settled();
  controller.abort(reason);
  expect(await next).toBe(reason);
  const late = runBatch({
    requests: [requestFor(0)],
    limits: { concurrency: 1 },
    signal,
    evaluateUntil,
  });
  await expect(late.next()).rejects.toBe(reason);
});

test("gives what came before an input that breaks, then its error", async () => {
  const broken = new Error("The file ends here.");
  function* source() {
    yield requestFor(0);
    throw broken;
  }
  const evaluateUntil = () => async (request: EvaluationRequest) => evaluationOf(request);
  const batch = runBatch({
    requests: source(),
    limits: { concurrency: 4 },
    signal: undefined,
    evaluateUntil,
  });
  expect(await batch.next()).toMatchObject({ value: { index: 0, status: "succeeded" } });
  await expect(batch.next()).rejects.toBe(broken);
});

test("ends at once on an empty input", async () => {
  const evaluateUntil = () => async () => expect.unreachable();
  const batch = runBatch({
    requests: [],
    limits: { concurrency: 4 },
    signal: undefined,
    evaluateUntil,
  });
  expect(await batch.next()).toEqual({ done: true, value: undefined });
});

test("reads 16 times its concurrency ahead by default", async () => {
  const evaluateUntil = () => async (request: EvaluationRequest) => evaluationOf(request);
  const read: number[] = [];
  const requests = endlessly(read);
  const batch = runBatch({
    requests,
    limits: { concurrency: 3 },
    signal: undefined,
    evaluateUntil,
  });
  await batch.next();
  await settled();
  expect(read).toHaveLength(1 + 48);
  await batch.return(undefined);
});

test.each([0, 1.5, -1, Number.NaN, Infinity])("rejects a concurrency of %d", (concurrency) => {
  const evaluator = createEvaluator({ transport: countingTransport().transport });
  const run = () => evaluator.evaluateMany([], { concurrency });
  expect(run).toThrow(expect.objectContaining({ option: "concurrency" }));
});

test.each<[string, object]>([
  ["readAhead", { readAhead: 0 }],
  ["readAhead", { readAhead: 2.5 }],
  ["order", { order: "backwards" }],
])("rejects a wrong %s", (option, wrong) => {
  const evaluator = createEvaluator({ transport: countingTransport().transport });
  const run = () => evaluator.evaluateMany([], wrong);
  expect(run).toThrow(expect.objectContaining({ name: "ConfigurationError", option }));
});

test("in input order, outcomes behind a call that waits stop the reading at 4,096", async () => {
  const read: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const evaluateUntil = () => async (request: EvaluationRequest) => {
    if (request.state === "0") await promise;
    return evaluationOf(request);
  };
  const limits = { concurrency: 4 };
  const requests = endlessly(read);
  const batch = runBatch({ requests, limits, signal: undefined, evaluateUntil });
  const first = batch.next();
  for (let turn = 0; turn < 2000; turn += 1) await settled();
  expect(read.length).toBeGreaterThanOrEqual(4096);
  expect(read.length).toBeLessThanOrEqual(4096 + 64);
  resolve();
  expect(await first).toMatchObject({ value: { index: 0 } });
  await batch.return(undefined);
});

test("keeps the order if a call ends while outcomes are taken", async () => {
  const evaluate = async (request: EvaluationRequest) => {
    const index = Number(request.state);
    if (index % 7 === 0) await setImmediate();
    else if (index % 2 === 1) await Promise.resolve();
    return evaluationOf(request);
  };
  const requests = Array.from({ length: 30 }, (_, index) => requestFor(index));
  const limits = { concurrency: 4, readAhead: 6 };
  const batch = runBatch({ requests, limits, signal: undefined, evaluateUntil: () => evaluate });
  const taken: number[] = [];
  for await (const { index } of batch) taken.push(index);
  expect(taken).toEqual(requests.map((_, index) => index));
});

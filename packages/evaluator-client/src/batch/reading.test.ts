import { expect, test } from "vitest";
import type { EvaluationRequest } from "../questions/request.ts";
import { answersByHand, evaluationOf, requestFor, settled } from "../testing/batch-by-hand.ts";
import { runBatch } from "./run-batch.ts";

test.each<[string, (rows: Iterable<EvaluationRequest>) => Iterable<EvaluationRequest>]>([
  ["an array", (rows) => [...rows]],
  ["a generator", (rows) => rows],
])("does no more for a concurrency of 10 million than %s has requests", async (_, from) => {
  let asked = 0;
  const evaluateUntil = () => async (request: EvaluationRequest) => {
    asked += 1;
    return evaluationOf(request);
  };
  function* source() {
    yield requestFor(0);
    yield requestFor(1);
  }
  const limits = { concurrency: 10_000_000 };
  const batch = runBatch({ requests: from(source()), limits, signal: undefined, evaluateUntil });
  const taken: number[] = [];
  for await (const { index } of batch) taken.push(index);
  expect({ asked, taken }).toEqual({ asked: 2, taken: [0, 1] });
});

test("reads an async input one by one, and only while there is room", async () => {
  const { open, evaluateUntil } = answersByHand();
  const reads: PromiseWithResolvers<IteratorResult<EvaluationRequest>>[] = [];
  const next = () => {
    const read = Promise.withResolvers<IteratorResult<EvaluationRequest>>();
    reads.push(read);
    return read.promise;
  };
  const requests = { [Symbol.asyncIterator]: () => ({ next }) };
  const limits = { concurrency: 2 };
  const batch = runBatch({ requests, limits, signal: undefined, evaluateUntil });
  const first = batch.next();
  await settled();
  expect(reads).toHaveLength(1);
  reads[0]?.resolve({ value: requestFor(0) });
  await settled();
  expect(reads).toHaveLength(2);
  reads[1]?.resolve({ value: requestFor(1) });
  await settled();
  expect({ reads: reads.length, open: open.size }).toEqual({ reads: 2, open: 2 });
  open.get("0")?.answer();
  await settled();
  expect(await first).toMatchObject({ value: { index: 0 } });
  expect(reads).toHaveLength(3);
  reads[2]?.resolve({ done: true, value: undefined });
  open.get("1")?.answer();
  expect(await batch.next()).toMatchObject({ value: { index: 1 } });
  expect(await batch.next()).toEqual({ done: true, value: undefined });
});

import { expect, test } from "vitest";
import { answersByHand, endlessly, requestFor, settled } from "../testing/batch-by-hand.ts";
import { runBatch } from "./run-batch.ts";

test("gives outcomes as they come when asked to", async () => {
  const { open, evaluateUntil } = answersByHand();
  const requests = [requestFor(0), requestFor(1), requestFor(2), requestFor(3)];
  const limits = { concurrency: 4, order: "completion" } as const;
  const batch = runBatch({ requests, limits, signal: undefined, evaluateUntil });
  const taken: number[] = [];
  const consumed = (async () => {
    for await (const { index } of batch) taken.push(index);
  })();
  for (const state of ["2", "0", "3", "1"]) {
    await settled();
    open.get(state)?.answer();
  }
  await consumed;
  expect(taken).toEqual([2, 0, 3, 1]);
});

test("in the order of completion, one that waits holds up no other, and memory stays bounded", async () => {
  const { open, evaluateUntil } = answersByHand();
  const read: number[] = [];
  const limits = { concurrency: 2, readAhead: 4, order: "completion" } as const;
  const requests = endlessly(read);
  const batch = runBatch({ requests, limits, signal: undefined, evaluateUntil });
  const taken: (number | undefined)[] = [];
  for (let index = 1; index <= 100; index += 1) {
    const next = batch.next();
    await settled();
    open.get(String(index))?.answer();
    taken.push((await next).value?.index);
  }
  expect(taken).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(read.length).toBeLessThanOrEqual(104);
  await batch.return(undefined);
});

test("in the order of completion, gives all that was asked before an input that breaks", async () => {
  const broken = new Error("The file ends here.");
  const { open, evaluateUntil } = answersByHand();
  function* source() {
    yield requestFor(0);
    yield requestFor(1);
    throw broken;
  }
  const limits = { concurrency: 4, order: "completion" } as const;
  const batch = runBatch({ requests: source(), limits, signal: undefined, evaluateUntil });
  const first = batch.next();
  await settled();
  open.get("1")?.answer();
  expect(await first).toMatchObject({ value: { index: 1 } });
  const second = batch.next();
  await settled();
  open.get("0")?.answer();
  expect(await second).toMatchObject({ value: { index: 0 } });
  await expect(batch.next()).rejects.toBe(broken);
});

test("in the order of completion, throws the caller's reason at once", async () => {
  const controller = new AbortController();
  const { evaluateUntil } = answersByHand();
  const requests = [requestFor(0), requestFor(1)];
  const { signal } = controller;
  const batch = runBatch({ requests, limits: { order: "completion" }, signal, evaluateUntil });
  const next = batch.next().catch((error: unknown) => error);
  await settled();
  controller.abort("enough");
  expect(await next).toBe("enough");
});

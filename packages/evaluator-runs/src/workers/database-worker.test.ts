import { setImmediate as untilNext } from "node:timers/promises";
import { ConnectionError, mostCostUsd, type Transport } from "evaluator-client";
import { systemClock } from "evaluator-kit";
import { expect, test } from "vitest";
import { RunTotals } from "../money/totals.ts";
import { openPgliteRuns } from "../testing/pglite-runs.ts";
import { CHUNK_SIZE } from "../store/run-store.ts";
import { countedTo, recordsNamed } from "../testing/sample-runs.ts";
import { sampleQuestions as questions, sampleResponse } from "../testing/samples.ts";
import { DatabaseWorker } from "./database-worker.ts";

const price = { inputUsdPerMillionTokens: 1, source: "--price" };

/** A clock whose short waits are over at once. */
const clock = {
  ...systemClock,
  schedule(delayMs: number, callback: () => void) {
    if (delayMs >= 1000) return systemClock.schedule(delayMs, callback);
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

test("a worker whose chunk another one has got leaves the run open, though it has no money for a retry", async () => {
  await using opened = await openPgliteRuns();
  const { runs, database } = opened;
  let sent = 0;
  const transport: Transport = {
    name: "gateway",
    async send() {
      sent += 1;
      if (sent > 1) {
        return { response: sampleResponse(), modelId: null, requestId: null, raw: null };
      }
      await database.query("select evaluator.take_chunk(1, 0, 'another', 0, 100)");
      await database.query("update evaluator.runs set max_cost_usd = 1");
      throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
    },
  };
  const request = { state: { about: "a" }, questions };
  const mostUsd = mostCostUsd(request, { ...price, transport });
  const info = await opened.load(recordsNamed("a"), { maxCostUsd: 1.5 * mostUsd });
  const { signal } = new AbortController();
  const context = { clock, signal, transport, stderr: { write: () => true } };
  const totals = new RunTotals(price);
  const asking = { concurrency: 1 };
  const part = {
    runs,
    info,
    questions,
    asking,
    pacers: [null, null] as const,
    totals,
    price,
    context,
    signal,
  };
  await new DatabaseWorker(part).work();
  expect(sent).toBe(2);
  expect(await runs.get(1)).toMatchObject({ state: "done", answered: 1 });
});

test("a worker without money waits for what the calls of another one leave, before it stops the run", async () => {
  await using opened = await openPgliteRuns();
  const { runs } = opened;
  const transport: Transport = {
    name: "gateway",
    send: async () => ({ response: sampleResponse(), modelId: null, requestId: null, raw: null }),
  };
  const records = countedTo(CHUNK_SIZE + 1);
  const info = await opened.load(records, { maxCostUsd: 1 });
  const other = await opened.takeChunk(1);
  await runs.reserve(other, 1);
  const report = { worker: "other", run: 1, name: "other", answered: 0, failed: 0, perSecond: 1 };
  await runs.report({ ...report, inFlight: 1 });
  let waits = 0;
  const endOther = async () => {
    await runs.report({ ...report, inFlight: 0 });
    await runs.finish(other, 0);
  };
  const wait = async (time: number, callback: () => void) => {
    await (time === 3 ? endOther() : untilNext());
    callback();
  };
  const waitingClock = {
    ...systemClock,
    schedule(delayMs: number, callback: () => void) {
      if (delayMs !== 1000) return clock.schedule(delayMs, callback);
      waits += 1;
      void wait(waits, callback);
      return () => {};
    },
  };
  const { signal } = new AbortController();
  const context = { clock: waitingClock, signal, transport, stderr: { write: () => true } };
  const totals = new RunTotals(price);
  const asking = { concurrency: 1 };
  const pacers = [null, null] as const;
  await new DatabaseWorker({
    runs,
    info,
    questions,
    asking,
    pacers,
    totals,
    price,
    context,
    signal,
  }).work();
  expect(await runs.get(1)).toMatchObject({ state: "done", answered: CHUNK_SIZE + 1 });
});

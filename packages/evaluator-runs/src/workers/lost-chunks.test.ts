import { statusError } from "../testing/refusing.ts";
import type { Clock } from "evaluator-kit";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { ticketMachines } from "../testing/tickets/start-tickets.ts";
import { folderWith, stoppedClock } from "../testing/tickets/start-tickets.ts";

const { database, start } = ticketMachines();
const tickets = Array.from({ length: 5 }, (_, index) => sampleTicket({ id: `m-${index}` }));
const TOUCH_MS = 3000;
const IDLE_MS = 1000;

/** A clock whose waits end when a test says so. */
function handClock() {
  const timers = new Set<{ readonly delayMs: number; readonly callback: () => void }>();
  const clock: Clock = {
    ...stoppedClock,
    schedule(delayMs, callback) {
      const timer = { delayMs, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  /** Ends the waits of a length, and lets the worker do what it then does. */
  const end = async (delayMs: number) => {
    const due = Array.from(timers).filter((timer) => timer.delayMs === delayMs);
    for (const timer of due) if (timers.delete(timer)) timer.callback();
    for (let turn = 0; turn < 20; turn += 1) {
      await database().query("select 1");
      await new Promise(setImmediate);
    }
  };
  return { clock, end };
}

/** Starts a run of the five tickets; `onSend` is told how many were sent. */
async function startRun(onSend: (count: number) => Promise<void>, concurrency: number) {
  const { clock, end } = handClock();
  const transport = recordingTransport();
  const send: typeof transport.send = async (...call) => {
    const response = await transport.send(...call);
    await onSend(transport.requests.length);
    return response;
  };
  const words = ["inbox.json", "--concurrency", String(concurrency)];
  const given = { transport: { ...transport, send }, clock };
  const outcome = start(words, { cwd: await folderWith(tickets), ...given });
  /** Lets the worker look for chunks until its run is done; returns how it ended. */
  const finish = async (): ReturnType<typeof start> =>
    (await Promise.race([outcome, end(IDLE_MS)])) ?? (await finish());
  return { requests: transport.requests, end, finish };
}

async function changeJob(change: string): Promise<void> {
  await database().query(`update evaluator_jobs.job set ${change}`);
}

test("a chunk that another worker has by now is asked no further", async () => {
  const sent = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { requests, end, finish } = await startRun(async (count) => {
    if (count !== 2) return;
    sent.resolve();
    await answer.promise;
  }, 1);
  await sent.promise;
  await changeJob("retry_count = retry_count + 1");
  await end(TOUCH_MS);
  answer.resolve();
  for (let round = 0; round < 5; round += 1) await end(IDLE_MS);
  expect(requests).toHaveLength(2);
  await changeJob("state = 'retry'");
  expect(await finish()).toMatchObject({ exitCode: 0 });
  expect(requests).toHaveLength(5);
});

test("a chunk that comes back to its worker is read when its own calls are committed", async () => {
  const sent = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { requests, end, finish } = await startRun(async (count) => {
    if (count === 2) sent.resolve();
    if (count <= 2) await answer.promise;
  }, 2);
  await sent.promise;
  await changeJob("state = 'retry'");
  await end(TOUCH_MS);
  await end(IDLE_MS);
  expect(requests).toHaveLength(2);
  answer.resolve();
  expect(await finish()).toMatchObject({ exitCode: 0 });
  expect(requests).toHaveLength(5);
});

test("a call that fails leaves its money to the next one", async () => {
  const sample = sampleResponse();
  // Enough for the second answer and the most that the third may cost, and not for the first beside them.
  const dear = { ...sample, providerMetadata: { gateway: { marketCost: "0.001" } } };
  const transport = recordingTransport((index) => {
    if (index === 0) throw statusError(400);
    return dear;
  });
  const words = ["inbox.json", "--limit", "3", "--price", "1", "--max-cost", "0.003"];
  const { exitCode } = await start(words, { cwd: await folderWith(tickets), transport });
  expect([exitCode, transport.requests.length]).toEqual([2, 3]);
});

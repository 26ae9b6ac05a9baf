import { join } from "node:path";
import { AuthenticationError, boolean, type Clock, gatewayTransport } from "evaluator-client";
import { createEmulator, type EmulatorOptions } from "evaluator-emulator";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { openJournal, readAnswers, type RunOptions, runRecords } from "./index.ts";

const questions = { scam: boolean("Does it look like a scam?") };
const records = [
  { id: "t-1", state: { text: "You have won the lottery" } },
  { id: "t-2", state: { text: "Lunch at noon?" } },
  { id: "t-3", state: { text: "Lunch at noon?" } },
];

async function run(
  path: string,
  { emulator, ...options }: Partial<RunOptions> & { emulator?: EmulatorOptions } = {},
) {
  const { fetch } = createEmulator(emulator);
  const transport = gatewayTransport({ apiKey: "local", env: {}, fetch });
  using journal = openJournal(path, { questions, transport });
  return await runRecords(records, { journal, transport, ...options });
}

type Fault = NonNullable<EmulatorOptions["faults"]>[number];

/** Asks an emulator with a fault in every call, or in the `next` ones. */
async function runWith(fault: Fault, options: Partial<RunOptions> & { readonly path?: string }) {
  const { path = join(await temporaryFolder(), "tickets.sqlite"), ...others } = options;
  return await run(path, { emulator: { faults: [{ path: "/v4/*", ...fault }] }, ...others });
}

test("each record is answered once, and a second run asks for nothing", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const first = await run(path, { concurrency: 2 });
  expect(first).toMatchObject({ records: 3, answered: 3, skipped: 0, failed: 0 });
  const read = [...readAnswers(path)];
  expect(read.map(({ id }) => id).toSorted()).toEqual(["t-1", "t-2", "t-3"]);
  for (const { id, state, evaluation } of read) {
    expect(state).toEqual(records.find((record) => record.id === id)?.state);
    expect(evaluation.answers["scam"]).toMatchObject({ type: "boolean" });
  }
  expect(await run(path)).toMatchObject({ records: 3, answered: 0, skipped: 3, inputTokens: 0 });
});

test("a run stops at its budget and goes on with a larger one", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const priced = { usdPerMillionTokens: 1_000_000 };
  const first = await run(path, { ...priced, maxCostUsd: 0 });
  expect(first).toMatchObject({ answered: 0, isBudgetSpent: true });
  expect([...readAnswers(path)]).toEqual([]);
  expect(await run(path, priced)).toMatchObject({ answered: 3, isBudgetSpent: false });
});

test("a wrong key ends the run with the service's error", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const denied = runWith({ kind: "status", status: 401 }, { path });
  await expect(denied).rejects.toBeInstanceOf(AuthenticationError);
});

test("an interruption is the caller's reason", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const reason = new Error("stopped");
  await expect(run(path, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test("a run waits on the clock of its runtime", async () => {
  const { fetch } = createEmulator({
    faults: [{ path: "/v4/*", kind: "status", status: 503, next: 2 }],
  });
  const transport = gatewayTransport({ apiKey: "local", env: {}, fetch });
  using journal = openJournal(join(await temporaryFolder(), "tickets.sqlite"), {
    questions,
    transport,
  });
  let nowMs = 0;
  const clock: Clock = {
    now: () => nowMs,
    epochNow: () => Date.UTC(2026, 10, 21) + nowMs,
    schedule(delayMs, callback) {
      const isRetry = delayMs > 100 && delayMs < 20_000;
      const timer = setImmediate(() => {
        if (!isRetry) return;
        nowMs += delayMs;
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
  const outcome = await runRecords(records, { journal, transport }, { clock, random: () => 1 });
  expect(outcome).toMatchObject({ answered: 3 });
  expect(nowMs).toBeGreaterThan(100);
  expect(journal.runs()).toMatchObject([
    { finishedAt: new Date(clock.epochNow()).toISOString(), elapsedMs: nowMs },
  ]);
});

test("a state may be text", async () => {
  const { fetch } = createEmulator();
  const transport = gatewayTransport({ apiKey: "local", env: {}, fetch });
  const path = join(await temporaryFolder(), "tickets.sqlite");
  using journal = openJournal(path, { questions, transport });
  const texts = records.map(({ id, state }) => ({ id, state: state.text }));
  expect(await runRecords(texts, { journal, transport })).toMatchObject({ answered: 3 });
  expect([...readAnswers(path)].map(({ state }) => state)).toContain("You have won the lottery");
});

test("an answer of an earlier run counts as the first one", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const unusable = { kind: "wrong-sums" } as const;
  expect(await runWith({ ...unusable, next: 1 }, { path })).toMatchObject({ failed: 1 });
  const again = await runWith(unusable, { path, failuresAtStart: 1 });
  expect(again).toMatchObject({ answered: 0, skipped: 2, failed: 1 });
});

test.each([
  ["maxRetries", { kind: "status", status: 500 }, { maxRetries: 0 }, "The gateway answered 500"],
  [
    "deadlineMs",
    { kind: "status", status: 429, retryAfter: 3600 },
    { deadlineMs: 1000 },
    "past the deadline of 1000 ms",
  ],
  ["attemptTimeoutMs", { kind: "hang" }, { attemptTimeoutMs: 5, maxRetries: 0 }, "5 ms"],
] as const)("%s limits a call", async (_, fault, limits, message) => {
  await expect(runWith(fault, { ...limits, failuresAtStart: 1 })).rejects.toThrow(message);
});

test("the progress of a run is written until it ends", async () => {
  const shown = Promise.withResolvers<string>();
  const { fetch } = createEmulator();
  const transport = gatewayTransport({
    apiKey: "local",
    env: {},
    async fetch(...request) {
      await shown.promise;
      return await fetch(...request);
    },
  });
  using journal = openJournal(join(await temporaryFolder(), "t.sqlite"), { questions, transport });
  const progress = { isTTY: true, columns: 80, write: shown.resolve };
  await runRecords(records, { journal, transport, progress });
  expect(await shown.promise).toContain("0 of 3 records");
});

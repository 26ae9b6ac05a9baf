import { join } from "node:path";
import {
  AuthenticationError,
  boolean,
  type Clock,
  gatewayTransport,
  mostCostUsd,
} from "evaluator-client";
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

test("the same run again, within the same maximum, spends it no second time", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  // The emulator's answers have a cost; a cap that lets one of the three be asked.
  const state = { text: "You have won the lottery" };
  const mostUsd = mostCostUsd({ state, questions }, { inputUsdPerMillionTokens: 0.042 });
  const cap = { maxCostUsd: 1.01 * mostUsd };
  const first = await run(path, cap);
  expect(first.isBudgetSpent).toBe(true);
  const again = await run(path, cap);
  expect(again).toMatchObject({ answered: 0, skipped: first.answered, isBudgetSpent: true });
  expect(await run(path)).toMatchObject({ answered: 3 - first.answered, isBudgetSpent: false });
});

test("a call that is killed each time counts as often as it was sent", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const { fetch } = createEmulator();
  let sent = 0;
  const transport = {
    ...gatewayTransport({ apiKey: "local", env: {}, fetch }),
    async send(): Promise<never> {
      sent += 1;
      throw new TypeError("As if the process was killed.");
    },
  };
  const [record] = records;
  const state = record?.state ?? {};
  const mostUsd = mostCostUsd(
    { state, questions },
    { inputUsdPerMillionTokens: 1_000_000, transport },
  );
  const attempt = async () => {
    using journal = openJournal(path, { questions, transport });
    const budget = { maxCostUsd: 3.5 * mostUsd, usdPerMillionTokens: 1_000_000 };
    return await runRecords([{ id: "t-1", state }], { journal, transport, ...budget });
  };
  for (let time = 0; time < 3; time += 1) await expect(attempt()).rejects.toThrow("killed");
  expect(await attempt()).toMatchObject({ answered: 0, isBudgetSpent: true });
  expect(sent).toBe(3);
});

test("attempts whose answers are lost stay within the maximum cost", async () => {
  const { fetch } = createEmulator();
  let billedUsd = 0;
  const transport = gatewayTransport({
    apiKey: "local",
    env: {},
    async fetch(...sent) {
      const answer = await fetch(...sent);
      const { providerMetadata } = (await answer.json()) as AnswerBody;
      billedUsd += Number(providerMetadata.gateway.marketCost);
      throw new TypeError("terminated", {
        cause: Object.assign(new Error(), { code: "ECONNRESET" }),
      });
    },
  });
  using journal = openJournal(join(await temporaryFolder(), "t.sqlite"), { questions, transport });
  const whole = await run(join(await temporaryFolder(), "whole.sqlite"));
  const maxCostUsd = 40 * (whole.costUsd ?? 0);
  const limits = { maxCostUsd, concurrency: 3, maxRetries: 50 };
  const outcome = await runRecords(records, { journal, transport, ...limits }, quickRuntime());
  expect(outcome).toMatchObject({ answered: 0, failed: 0, notAsked: 3, isBudgetSpent: true });
  expect(billedUsd).toBeGreaterThan(0);
  expect(billedUsd).toBeLessThanOrEqual(maxCostUsd);
  expect(outcome.costUsd).toBeGreaterThan(billedUsd / 2);
  const again = await runRecords(records, { journal, transport, ...limits }, quickRuntime());
  expect(again).toMatchObject({ answered: 0, isBudgetSpent: true });
  expect(billedUsd).toBeLessThanOrEqual(maxCostUsd);
});

interface AnswerBody {
  providerMetadata: { gateway: { marketCost: string } };
}

/** A clock whose waits end at once. */
function quickRuntime() {
  let nowMs = 0;
  const clock: Clock = {
    now: () => nowMs,
    epochNow: () => nowMs,
    schedule(delayMs, callback) {
      const timer = setImmediate(() => {
        if (delayMs > 20_000) return; // the limits of attempts and calls
        nowMs += delayMs;
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
  return { clock, random: () => 0 };
}

test("a journal takes one run at a time, of its own service, and keeps the states that were asked", async () => {
  const { fetch } = createEmulator();
  const asked: string[] = [];
  const changing = records.map(({ id, state }) => ({ id, state: { ...state } }));
  const transport = gatewayTransport({
    apiKey: "local",
    env: {},
    fetch: async (...sent) => {
      for (const { state } of changing) state.text = "changed";
      asked.push(JSON.stringify(sent[1]?.body));
      return await fetch(...sent);
    },
  });
  const path = join(await temporaryFolder(), "t.sqlite");
  using journal = openJournal(path, { questions, transport });
  const first = runRecords(changing, { journal, transport });
  await expect(runRecords(records, { journal, transport })).rejects.toThrow(
    "in use by another runRecords",
  );
  await first;
  expect(asked.join(" ")).not.toContain("changed");
  const kept = [...readAnswers(path)].map(({ id, state }) => ({ id, state }));
  expect(kept.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual(records);
  const other = gatewayTransport({ apiKey: "local", env: {}, fetch, modelId: "other/model" });
  await expect(runRecords(records, { journal, transport: other })).rejects.toThrow(
    "the same transport",
  );
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
  expect(journal.completeRuns()).toMatchObject([
    { facts: { finishedAt: new Date(clock.epochNow()).toISOString(), elapsedMs: nowMs } },
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

import { join } from "node:path";
import { AuthenticationError, boolean, gatewayTransport } from "evaluator-client";
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
  const faults = [{ kind: "status", status: 401, path: "/v4/*" }] as const;
  await expect(run(path, { emulator: { faults } })).rejects.toBeInstanceOf(AuthenticationError);
});

test("an interruption is the caller's reason", async () => {
  const path = join(await temporaryFolder(), "tickets.sqlite");
  const reason = new Error("stopped");
  await expect(run(path, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

import { join } from "node:path";
import {
  ConfigurationError,
  EvaluatorError,
  mostCostUsd,
  StatusError,
  type Transport,
} from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { openJournal, type RunOptions, runRecords } from "../index.ts";
import { openReader } from "../journal/read-journal.ts";
import { sampleQuestions, sampleResponse } from "../testing/samples.ts";

const busy = new StatusError("Busy.", {
  status: 500,
  type: null,
  requestId: null,
  generationId: null,
  // Longer than a call may take, so it is not tried again.
  retryAfterMs: 2 * 86_400_000,
  needsPaidCredits: false,
  isRetryable: true,
});

const broken = new EvaluatorError("The answers break the contract.");

/** Asks about as many records as there are ends of calls, each an error or null for an answer. */
async function ask(ends: readonly (EvaluatorError | null)[], limits: Partial<RunOptions> = {}) {
  let sent = 0;
  const transport: Transport = {
    name: "gateway",
    async send() {
      const end = ends[sent++] ?? null;
      if (end !== null) throw end;
      return { response: sampleResponse(), modelId: null, requestId: null, raw: null };
    },
  };
  const path = join(await temporaryFolder(), "mails.sqlite");
  using journal = openJournal(path, { questions: sampleQuestions, transport });
  const records = ends.map((_, index) => ({ id: `m-${index}`, state: { index } }));
  const [outcome] = await Promise.allSettled([
    runRecords(records, { journal, transport, ...limits }),
  ]);
  return { outcome, sent };
}

function times<TEnd>(count: number, end: TEnd): TEnd[] {
  return Array.from({ length: count }, () => end);
}

test("a service that is down for twenty mails in a row ends the run", async () => {
  const nineteen = await ask(times(19, busy));
  expect(nineteen.outcome).toMatchObject({ value: { failed: 19 } });
  const { outcome, sent } = await ask(times(21, busy));
  expect(outcome).toMatchObject({ reason: { message: expect.stringMatching(/^Busy\./) } });
  expect(sent).toBe(20);
});

test("one answer between them lets it go on", async () => {
  const { outcome } = await ask([...times(19, busy), null, ...times(19, busy)]);
  expect(outcome).toMatchObject({ value: { answered: 1, failed: 38 } });
});

test("mails that fail each for their own reason never end the run", async () => {
  const { outcome } = await ask(times(100, broken));
  expect(outcome).toMatchObject({ value: { failed: 100 } });
});

test("so many failures before the first answer end it, and later ones do not", async () => {
  const limits = { failuresAtStart: 3 };
  const { outcome, sent } = await ask(times(9, broken), limits);
  expect(outcome).toMatchObject({ reason: broken });
  expect(sent).toBe(3);
  const later = await ask([...times(2, broken), null, ...times(9, broken)], limits);
  expect(later.outcome).toMatchObject({ value: { answered: 1, failed: 11 } });
});

const unpaid = new StatusError("No credits.", {
  status: 402,
  type: null,
  requestId: null,
  generationId: null,
  retryAfterMs: null,
  needsPaidCredits: true,
});

test.each([
  ["a wrong setting", new ConfigurationError("No key.", { option: "apiKey" })],
  ["an account without credits", unpaid],
])("%s ends it at once", async (_, error) => {
  const { outcome, sent } = await ask(times(2, error));
  expect(outcome).toMatchObject({ reason: error });
  expect(sent).toBe(1);
});

test("a call that waits for money does not begin after a failure that ends the run", async () => {
  const state = { index: 0 };
  const price = { inputUsdPerMillionTokens: 1 };
  const mostUsd = mostCostUsd({ state, questions: sampleQuestions }, price);
  const limits = { usdPerMillionTokens: 1, maxCostUsd: 1.5 * mostUsd, concurrency: 2 };
  const { outcome, sent } = await ask(times(2, unpaid), limits);
  expect(outcome).toMatchObject({ reason: unpaid });
  expect(sent).toBe(1);
});

test("a call is sent when its note and every answer before it are on the disk", async () => {
  const path = join(await temporaryFolder(), "mails.sqlite");
  const counts: Record<string, number>[] = [];
  const transport: Transport = {
    name: "gateway",
    async send() {
      using reader = openReader(path);
      const { begun: begunCount, answered: answeredCount } = reader.progress();
      counts.push({ begun: begunCount, answered: answeredCount });
      return { response: sampleResponse(), modelId: null, requestId: null, raw: null };
    },
  };
  using journal = openJournal(path, { questions: sampleQuestions, transport });
  const records = [0, 1, 2].map((index) => ({ id: `m-${index}`, state: { index } }));
  await runRecords(records, { journal, transport });
  expect(counts).toEqual([0, 1, 2].map((answered) => ({ begun: 1, answered })));
});

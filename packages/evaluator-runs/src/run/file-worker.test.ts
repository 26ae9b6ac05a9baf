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
import { openReader } from "../sqlite/read-journal.ts";
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

/** Waits for so many turns of promises, all before the next event. */
async function promiseTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

test("two calls that end at once leave money for a third one, whatever lies between their ends", async () => {
  const state = { index: 0 };
  const price = { inputUsdPerMillionTokens: 1 };
  const mostUsd = mostCostUsd({ state, questions: sampleQuestions }, price);
  const gateway = { marketCost: (mostUsd / 2).toFixed(12) };
  const response = { ...sampleResponse(), providerMetadata: { gateway } };
  const answeredAfter = async (turns: readonly number[]) => {
    const bothSent = Promise.withResolvers<void>();
    let sent = 0;
    const transport: Transport = {
      name: "gateway",
      async send() {
        const turnCount = turns[sent++] ?? 0;
        if (sent === 2) setImmediate(bothSent.resolve);
        await bothSent.promise;
        await promiseTurns(turnCount);
        return { response, modelId: null, requestId: null, raw: null };
      },
    };
    const path = join(await temporaryFolder(), "mails.sqlite");
    using journal = openJournal(path, { questions: sampleQuestions, transport });
    const records = [0, 1, 2, 3].map((index) => ({ id: `m-${index}`, state: { index } }));
    // Before both have ended, there is no money for a third call.
    const limits = { usdPerMillionTokens: 1, maxCostUsd: 2.4 * mostUsd, concurrency: 2 };
    return (await runRecords(records, { journal, transport, ...limits })).answered;
  };
  for (let turns = 0; turns < 9; turns += 1) {
    expect([turns, await answeredAfter([turns, 0]), await answeredAfter([0, turns])]).toEqual([
      turns,
      3,
      3,
    ]);
  }
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

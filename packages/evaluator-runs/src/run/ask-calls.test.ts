import { join } from "node:path";
import { ConfigurationError, EvaluatorError, StatusError, type Transport } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { openJournal, runRecords } from "../index.ts";
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

/** Asks about as many records as there are ends of calls, each an error or null for an answer. */
async function ask(ends: readonly (EvaluatorError | null)[]) {
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
  const [outcome] = await Promise.allSettled([runRecords(records, { journal, transport })]);
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
  const { outcome } = await ask(times(100, new EvaluatorError("The answers break the contract.")));
  expect(outcome).toMatchObject({ value: { failed: 100 } });
});

test("a wrong setting ends it at once", async () => {
  const error = new ConfigurationError("No key.", { option: "apiKey" });
  const { outcome, sent } = await ask(times(2, error));
  expect(outcome).toMatchObject({ reason: error });
  expect(sent).toBe(1);
});

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { describe, onTestFinished } from "vitest";
import type { RecordInput, RunRecord } from "../input/record-source.ts";
import { withStoredRuns } from "../open-store.ts";
import type { AnswersUnderTest } from "../testing/contract/answers-under-test.ts";
import { testKeptAnswers } from "../testing/contract/kept-answers-contract.ts";
import { testRows } from "../testing/contract/rows-contract.ts";
import { sampleSetup, sampleSource } from "../testing/samples.ts";
import { Journal } from "./journal.ts";
import { putAway } from "./open-journal.ts";
import { readJournal } from "./read-journal.ts";

describe("answers", () => {
  testKeptAnswers(openAnswers);
});
describe("rows", () => {
  testRows(openAnswers);
});

async function openAnswers(): Promise<AnswersUnderTest> {
  const cwd = await temporaryFolder();
  const path = join(cwd, "inbox.records.sqlite");
  const journal = Journal.open(path, sampleSetup);
  onTestFinished(() => journal[Symbol.dispose]());
  let input: RecordInput;
  const ended = { answers: 0, errors: 0 };
  const source = { ...sampleSource, open: async () => input };
  return {
    isConcurrent: true,
    async begin(records) {
      input = inputOf(records.map(({ id, state }) => ({ id, state, source: null })));
      Object.assign(ended, { answers: 0, errors: 0 });
      journal.noteRecords(records);
      const options = { skipInvalid: false, questions: null, calibration: null, limit: null };
      const begin = { ...options, format: "json", maxCostUsd: null } as const;
      journal.beginRun({ mails: records.length, options: begin });
    },
    async keep({ id, key, state }, end) {
      ended["error" in end ? "errors" : "answers"] += 1;
      await journal.end("error" in end ? { id, key, ...end } : { id, key, state, ...end });
    },
    async finish() {
      const { address: wire, modelId } = sampleSetup.service;
      const finishedAt = new Date(Date.UTC(2026, 10, 28)).toISOString();
      const counts = { answered: ended.answers, failed: ended.errors, inputTokens: 0, costUsd: 0 };
      journal.addRun({ finishedAt, wire, modelId, mails: input.length, ...counts, elapsedMs: 1 });
    },
    read: async (use) =>
      await withStoredRuns(
        { kind: "sqlite", path },
        { ...createTestContext({ cwd }), source, openRuns: isUnused },
        use,
      ),
    statusesOf: (keys) => readJournal(path, (reader) => reader.statusesOf(keys)),
    async change({ key }) {
      using database = new DatabaseSync(path);
      const changed = "UPDATE answers SET evaluation = replace(evaluation, '0.25', '0.99')";
      const call = "WHERE call = (SELECT call FROM calls WHERE key = ?)";
      database.prepare(`${changed} ${call}`).run(key);
    },
    putAway: async (ids, until) => putAway(path, ids, until),
  };
}

async function isUnused(): Promise<never> {
  throw new Error("A journal in a file needs no database.");
}

function inputOf(all: readonly RunRecord[]): RecordInput {
  const records = async function* records(limit = all.length) {
    for (const [index, record] of all.slice(0, limit).entries()) yield { index, record };
  };
  return { length: all.length, leftOutCount: 0, describeLeftOut: () => "", records };
}

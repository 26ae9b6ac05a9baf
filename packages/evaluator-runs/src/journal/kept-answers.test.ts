import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import type { ResultRow } from "../columns/columns.ts";
import type { RecordInput, RunRecord } from "../input/record-source.ts";
import { withResults } from "../journal-results.ts";
import { testKeptAnswers } from "../testing/contract/kept-answers-contract.ts";
import { sampleSetup, sampleSource } from "../testing/samples.ts";
import { Journal } from "./journal.ts";
import { readJournal } from "./read-journal.ts";

testKeptAnswers(async () => {
  const cwd = await temporaryFolder();
  const path = join(cwd, "inbox.records.sqlite");
  const journal = Journal.open(path, sampleSetup);
  onTestFinished(() => journal[Symbol.dispose]());
  let input: RecordInput;
  const source = { ...sampleSource, open: async () => input };
  return {
    async begin(records) {
      input = inputOf(records.map(({ id, state }) => ({ id, state, source: null })));
      journal.noteRecords(records);
      const options = { skipInvalid: false, questions: null, calibration: null, limit: null };
      const begin = { ...options, format: "json", maxCostUsd: null } as const;
      journal.beginRun({ mails: records.length, options: begin });
    },
    async keep({ id, key, state }, end) {
      await journal.end("error" in end ? { id, key, ...end } : { id, key, state, ...end }, null);
    },
    async read() {
      const context = { ...createTestContext({ cwd }), source, ...unused };
      return await withResults({ journal: path }, context, async ({ rows }) => {
        const ends: ReturnType<typeof toEnd>[] = [];
        for await (const row of rows) ends.push(toEnd(row));
        return ends;
      });
    },
    statusesOf: (keys) => readJournal(path, (reader) => reader.statusesOf(keys)),
    async change({ key }) {
      using database = new DatabaseSync(path);
      const changed = "UPDATE answers SET evaluation = replace(evaluation, '0.25', '0.99')";
      const call = "WHERE call = (SELECT call FROM calls WHERE key = ?)";
      database.prepare(`${changed} ${call}`).run(key);
    },
  };
});

async function isUnused(): Promise<never> {
  throw new Error("A journal in a file needs no service and no database.");
}

const unused = { openTransport: isUnused, openCatalog: isUnused, openRuns: isUnused };

function inputOf(all: readonly RunRecord[]): RecordInput {
  const records = async function* records(limit = all.length) {
    for (const [index, record] of all.slice(0, limit).entries()) yield { index, record };
  };
  return { length: all.length, leftOutCount: 0, describeLeftOut: () => "", records };
}

function toEnd({ kept, record: { id, error } }: ResultRow) {
  if (kept === null) {
    // The results tell of a record without an end too.
    const isOpen = String(error).startsWith("The answer is not in the journal");
    return { id, probability: null, error: isOpen ? null : String(error) };
  }
  const answer = kept.answers["scam"];
  return { id, probability: answer?.type === "boolean" ? answer.probability : null, error: null };
}

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import { testKeptAnswers } from "../testing/contract/kept-answers-contract.ts";
import { sampleSetup } from "../testing/samples.ts";
import { Journal } from "./journal.ts";
import type { JournalReader } from "./journal-reader.ts";
import { readJournal } from "./read-journal.ts";

testKeptAnswers(async () => {
  const path = join(await temporaryFolder(), "inbox.triage.sqlite");
  const journal = Journal.open(path, sampleSetup);
  onTestFinished(() => journal[Symbol.dispose]());
  return {
    async begin(records) {
      journal.noteRecords(records);
      const options = { skipInvalid: false, questions: null, calibration: null, limit: null };
      const begin = { ...options, format: "json", maxCostUsd: null } as const;
      journal.beginRun({ mails: records.length, options: begin });
    },
    async keep({ id, key, state }, end) {
      await journal.end("error" in end ? { id, key, ...end } : { id, key, state, ...end }, null);
    },
    read: () => readJournal(path, (reader) => endsOf(reader)),
    statusesOf: (keys) => readJournal(path, (reader) => reader.statusesOf(keys)),
    async change({ key }) {
      using database = new DatabaseSync(path);
      const changed = "UPDATE answers SET evaluation = replace(evaluation, '0.25', '0.99')";
      const call = "WHERE call = (SELECT call FROM calls WHERE key = ?)";
      database.prepare(`${changed} ${call}`).run(key);
    },
  };
});

function endsOf(reader: JournalReader) {
  return [...reader.results(sampleSetup)].map(({ id, evaluation, error }) => {
    const answer = evaluation?.answers["scam"];
    return { id, probability: answer?.type === "boolean" ? answer.probability : null, error };
  });
}

import { join } from "node:path";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { toKeptText } from "../journal/kept-answer.ts";
import { openPgliteRuns } from "../testing/pglite-runs.ts";
import { answerTo, recordsNamed } from "../testing/sample-runs.ts";
import { sampleEvaluation, sampleSetup, sampleSource } from "../testing/samples.ts";
import { openLabelled } from "./labelled-journal.ts";

const { signal } = new AbortController();

test("labels of a run in a database are beside its input, with the ids of its column and no URL", async () => {
  await using opened = await openPgliteRuns();
  const { runs } = opened;
  const questions = JSON.stringify(sampleSetup.questions);
  const setup = { hash: "h", wire: "gateway", modelId: "m", questions };
  const records = recordsNamed("t-1", "t-2");
  const facts = JSON.stringify({ idColumn: "ticket" });
  await opened.load(records, { setup, facts, name: "tickets.csv" });
  await opened.load(recordsNamed("other"), { setup, name: "other.csv" });
  const writer = runs.writer({ run: 1, signal });
  for (const record of records)
    await writer.keep(answerTo(record, toKeptText(sampleEvaluation(0.25))));

  const cwd = await temporaryFolder();
  const isUnused = async () => expect.unreachable();
  const labelled = await openLabelled(
    { file: "tickets.csv" },
    {
      ...createTestContext({
        cwd,
        env: { [sampleSource.journalVariable]: "postgres://ada:secret@db.example.com/x" },
      }),
      source: sampleSource,
      openTransport: isUnused,
      openCatalog: isUnused,
      openRuns: async () =>
        Object.assign(Object.create(runs) as typeof runs, {
          [Symbol.asyncDispose]: async () => {},
        }),
    },
  );
  expect(labelled).toMatchObject({
    idColumn: "ticket",
    labelsPath: join(cwd, "tickets.labels.ndjson"),
    name: `"$${sampleSource.journalVariable}#1"`,
  });
  expect(labelled.answers.table.largest("scam")?.ids).toEqual(["t-1", "t-2"]);
  expect(await labelled.stateOf("t-2")).toEqual({ about: "t-2" });
  await labelled.putAway(["t-2"], "2026-12-01");
  expect(await runs.away("tickets.csv")).toEqual(new Map([["t-2", "2026-12-01"]]));
});

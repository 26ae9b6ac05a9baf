import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CliError } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { sampleEvaluation, sampleSetup } from "../testing/samples.ts";
import { JournalReader } from "./journal-reader.ts";
import { readJournal } from "./read-journal.ts";
import { Journal } from "./journal.ts";
import { callKey, setupHash } from "../journal/kept-answer.ts";
import { SqliteRuns } from "./sqlite-runs.ts";

const { questions } = sampleSetup;
const [first, second, third] = ["m-1", "m-2", "m-3"].map((id) => {
  const state = { about: id };
  return { id, state, key: callKey(setupHash(sampleSetup), JSON.stringify(state)) };
}) as [CallStart, CallStart, CallStart];
const input = { path: "inbox.json", word: "mail", open: async () => expect.unreachable() };
const keys = [first.key, second.key, third.key];

interface CallStart {
  readonly id: string;
  readonly key: string;
  readonly state: { readonly about: string };
}

function answered(call: CallStart, probability?: number): Parameters<Journal["end"]>[0] {
  return { ...call, evaluation: sampleEvaluation(probability) };
}

/** Opens a journal that knows three mails, and a way to change it behind its back. */
async function openedJournal() {
  const folder = await temporaryFolder();
  const path = join(folder, "inbox.triage.sqlite");
  const journal = Journal.open(path, sampleSetup);
  let isOpen = true;
  const close = () => {
    if (isOpen) journal[Symbol.dispose]();
    isOpen = false;
  };
  onTestFinished(close);
  journal.noteRecords([first, second, third]);
  const edit = (sql: string) => {
    using database = new DatabaseSync(path);
    database.exec(sql);
  };
  return { folder, path, journal, edit, close };
}

function failOnAnswers(how: "ABORT" | "ROLLBACK"): string {
  return `CREATE TRIGGER fails BEFORE INSERT ON answers BEGIN SELECT RAISE(${how}, 'it is full'); END`;
}

test("a call is begun before it is sent, and the end of one begins the next", async () => {
  const { journal } = await openedJournal();
  expect(journal.statusesOf(keys)).toEqual(["unknown", "unknown", "unknown"]);
  await journal.begin(first);
  expect(journal.statusesOf(keys)).toEqual(["begun", "unknown", "unknown"]);
  await Promise.all([journal.end(answered(first)), journal.begin(second)]);
  expect(journal.statusesOf(keys)).toEqual(["answered", "begun", "unknown"]);
  await journal.end({ ...second, error: "It failed." });
  expect(journal.statusesOf(keys)).toEqual(["answered", "unknown", "unknown"]);
});

test.each(["ABORT", "ROLLBACK"] as const)(
  "a step that fails (%s) is undone whole and told to all that wait for it, and a later one goes through",
  async (how) => {
    const { path, journal, edit } = await openedJournal();
    edit(failOnAnswers(how));
    const ends = [
      journal.end({ ...first, error: "It failed." }),
      journal.begin(second),
      journal.end(answered(third)),
    ];
    const message = `The journal ${path} cannot be used: it is full.`;
    for (const outcome of await Promise.allSettled(ends)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { message } });
    }
    expect(journal.statusesOf(keys)).toEqual(["unknown", "unknown", "unknown"]);
    expect(journal.row(first.id)).toMatchObject({ evaluation: null, error: null });
    edit("DROP TRIGGER fails");
    await journal.end(answered(third));
    expect(journal.statusesOf(keys)).toEqual(["unknown", "unknown", "answered"]);
  },
);

test("what stops the mails while they are noted stays what it is, and none of them is noted", async () => {
  const { journal } = await openedJournal();
  const stop = new Error("Interrupted.");
  function* stopped() {
    yield { id: "m-4", key: "another" };
    throw stop;
  }
  expect(() => journal.noteRecords(stopped())).toThrow(stop);
  expect(journal.row("m-4")).toBeNull();
});

test("tells of a mail without an answer why it has none", async () => {
  const { journal } = await openedJournal();
  await journal.end({ ...second, error: "The service refused it." });
  expect(journal.row(first.id)).toMatchObject({ evaluation: null, error: null });
  expect(journal.row(second.id)).toMatchObject({ error: "The service refused it." });
});

test("gives each answered mail with its newest answer, and none that is not as it was written", async () => {
  const { journal, edit } = await openedJournal();
  await journal.end(answered(first, 0.1));
  await journal.end(answered(second, 0.2));
  await journal.end(answered(first, 0.3));
  const given = () =>
    [...journal.answered()].map(({ id, state, evaluation: { answers } }) => ({
      id,
      state,
      answers,
    }));
  const answers = (probability: number) => ({ scam: { type: "boolean", probability } });
  expect(given()).toEqual([
    { id: first.id, state: first.state, answers: answers(0.3) },
    { id: second.id, state: second.state, answers: answers(0.2) },
  ]);
  edit(`UPDATE answers SET evaluation = replace(evaluation, '0.3', '0.9')`);
  expect(given()).toMatchObject([{ id: second.id }]);
});

test("an answer is there as it was written, or it is not there", async () => {
  const { journal, edit } = await openedJournal();
  await journal.end(answered(first));
  const { raw: _, ...kept } = sampleEvaluation();
  expect(journal.endOf(first.id, questions).evaluation).toMatchObject(kept);
  expect(journal.endOf(second.id, questions).evaluation).toBeNull();
  edit("UPDATE answers SET evaluation = replace(evaluation, '0.12', '0.99')");
  expect(journal.endOf(first.id, questions).evaluation).toBeNull();
});

test.each(["model = 'n'", "wire = 'v'", "questions = '{}'"])(
  "an answer to a call that was not this one (%s) is not shown",
  async (change) => {
    const { journal, edit } = await openedJournal();
    await journal.end(answered(first));
    const runs = new SqliteRuns(journal, input);
    expect(await runs.find(first.id)).toMatchObject({ isChanged: false });
    edit(`UPDATE setups SET ${change}`);
    const changed = await new SqliteRuns(journal, input).find(first.id);
    expect(changed).toMatchObject({ evaluation: null, isChanged: true });
    expect([...journal.answered()]).toEqual([]);
  },
);

test("facts of a run that cannot be read are left out", async () => {
  const { journal, edit } = await openedJournal();
  edit(`INSERT INTO runs (facts) VALUES ('{}')`);
  expect(journal.completeRuns()).toEqual([]);
});

test("a table that is gone is told as trouble with the journal", async () => {
  const { path, journal, edit } = await openedJournal();
  edit("PRAGMA foreign_keys = OFF; DROP TABLE answers");
  const problem = new CliError(`The journal ${path} cannot be used: no such table: answers.`);
  expect(() => journal.row(first.id)).toThrow(problem);
  expect(() => [...journal.answered()]).toThrow(problem);
});

test("a statement is prepared once, since it is read for every mail", async () => {
  const { path } = await openedJournal();
  using database = new DatabaseSync(path);
  const prepare = vi.spyOn(database, "prepare");
  new JournalReader(path, database).statusesOf(keys);
  expect(prepare).toHaveBeenCalledTimes(1);
});

test("a reader beside a run sees what it has written, once, and holds nothing when it ends", async () => {
  const { folder, path, journal, edit, close } = await openedJournal();
  let reads = 0;
  const statuses = await readJournal(path, async (reader) => {
    reads += 1;
    await journal.begin(first);
    edit("PRAGMA wal_checkpoint"); // writes into the file itself
    return reader.statusesOf(keys);
  });
  expect(reads).toBe(1);
  expect(statuses).toEqual(["begun", "unknown", "unknown"]);
  close();
  expect(readdirSync(folder)).toEqual(["inbox.triage.sqlite"]);
});

test("a reader leaves the log of a killed run as it is", async () => {
  const { path, journal } = await openedJournal();
  await journal.end(answered(first));
  const left = join(await temporaryFolder(), "inbox.triage.sqlite");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, left + suffix);
  const contents = () => ["", "-wal"].map((suffix) => readFileSync(left + suffix, "base64"));
  const before = contents();
  const statuses = await readJournal(left, (reader) => reader.statusesOf(keys));
  expect(statuses).toEqual(["answered", "unknown", "unknown"]);
  expect(contents()).toEqual(before);
});

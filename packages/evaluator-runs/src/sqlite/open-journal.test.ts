import {
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runInNewContext } from "node:vm";
import { CliError, type FileSystem, systemFiles } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test, vi } from "vitest";
import { sampleSetup } from "../testing/samples.ts";
import { Journal } from "./journal.ts";
import { toJournalError } from "./open-journal.ts";

/** Returns where a journal and its lock stand, in a folder of their own. */
async function newPaths(name = "inbox.triage") {
  const folder = await temporaryFolder();
  return { folder, path: join(folder, `${name}.sqlite`), lock: join(folder, `${name}.lock`) };
}

function edit(path: string, sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

const inUse = /is in use by another run; wait for its end\.$/;

test("one run at a time has a journal, and the next has it when that has ended", async () => {
  const { folder, path } = await newPaths();
  const first = Journal.open(path, sampleSetup);
  expect(() => Journal.open(path, sampleSetup)).toThrow(inUse);
  first[Symbol.dispose]();
  using second = Journal.open(path, sampleSetup);
  expect(second.completeRuns()).toEqual([]);
  expect(() => Journal.open(path, sampleSetup)).toThrow(inUse);
  expect(readdirSync(folder)).toContain("inbox.triage.lock");
});

test("while it is open a log and a lock of its name are beside it, afterwards nothing", async () => {
  const { folder, path, lock } = await newPaths("my.sqlite.triage");
  const journal = Journal.open(path, sampleSetup);
  expect(readdirSync(folder)).toEqual([
    "my.sqlite.triage.lock",
    "my.sqlite.triage.sqlite",
    "my.sqlite.triage.sqlite-shm",
    "my.sqlite.triage.sqlite-wal",
  ]);
  expect([path, lock].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  journal[Symbol.dispose]();
  expect(readdirSync(folder)).toEqual(["my.sqlite.triage.sqlite"]);
});

test("is made in pages of the size that was measured", async () => {
  const { path } = await newPaths();
  Journal.open(path, sampleSetup)[Symbol.dispose]();
  using database = new DatabaseSync(path, { readOnly: true });
  expect(database.prepare("PRAGMA page_size").get()).toEqual({ page_size: 8192 });
});

test("a lock that was removed while another run took it locks nobody in", async () => {
  const { path, lock } = await newPaths();
  vi.spyOn(DatabaseSync.prototype, "exec").mockImplementationOnce(function (
    this: DatabaseSync,
    sql,
  ) {
    rmSync(lock); // as a run does that ends at this moment
    this.exec(sql);
  });
  using journal = Journal.open(path, sampleSetup);
  expect(journal.completeRuns()).toEqual([]);
  expect(() => Journal.open(path, sampleSetup)).toThrow(inUse);
});

test("a lock that is gone when the run ends is no error", async () => {
  const { folder, path, lock } = await newPaths();
  const journal = Journal.open(path, sampleSetup);
  rmSync(lock);
  journal[Symbol.dispose]();
  expect(readdirSync(folder)).toEqual(["inbox.triage.sqlite"]);
});

test("a lock that is a link to a file not there yet is followed", async () => {
  const { folder, path, lock } = await newPaths();
  symlinkSync(join(folder, "elsewhere"), lock);
  using journal = Journal.open(path, sampleSetup);
  expect(journal.completeRuns()).toEqual([]);
  expect(lstatSync(lock).isSymbolicLink()).toBe(true);
  expect(() => Journal.open(path, sampleSetup)).toThrow(inUse);
});

test("a folder that cannot be written is named, with what to look at", async () => {
  const { folder } = await newPaths();
  const path = join(folder, "gone", "inbox.triage.sqlite");
  const open = () => Journal.open(path, sampleSetup);
  expect(open).toThrow(CliError);
  expect(open).toThrow(
    /^Cannot write .*gone.*inbox\.triage\.sqlite: no such file or directory\. Check the path\.$/,
  );
});

test.each([
  ["marked by another program, and empty", "PRAGMA application_id = 1"],
  ["of another program's version, and empty", "PRAGMA user_version = 1"],
  ["another program's, without a mark", "CREATE TABLE notes (note TEXT)"],
])("a database that is %s is refused, and stays as it is", async (_, sql) => {
  const { folder, path } = await newPaths();
  edit(path, sql);
  const before = readFileSync(path);
  expect(() => Journal.open(path, sampleSetup)).toThrow(CliError);
  expect(() => Journal.open(path, sampleSetup)).toThrow(
    /is not a journal of this program; move it away/,
  );
  expect(readFileSync(path)).toEqual(before);
  expect(readdirSync(folder)).toEqual(["inbox.triage.sqlite"]);
});

test("a journal that has lost its tables is refused, and let go of", async () => {
  const { folder, path } = await newPaths();
  edit(path, `PRAGMA application_id = 0x54524947; PRAGMA user_version = 5`);
  for (let time = 1; time <= 2; time += 1) {
    expect(() => Journal.open(path, sampleSetup)).toThrow(/cannot be used: no such table: \w+\.$/);
  }
  expect(readdirSync(folder)).toEqual(["inbox.triage.sqlite"]);
});

test("damage in any page is found before the run, and the error of SQLite is its cause", async () => {
  const { folder, path } = await newPaths();
  Journal.open(path, sampleSetup)[Symbol.dispose]();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(7, bytes.length - 8192));
  const problem = {
    message: expect.stringMatching(/is damaged\. Move it away to start a new one/),
    cause: expect.any(Error),
  };
  expect(() => Journal.open(path, sampleSetup)).toThrow(expect.objectContaining(problem));
  expect(readdirSync(folder)).toEqual(["inbox.triage.sqlite"]);
});

test("a journal is kept with the files, databases and turns that are passed in", async () => {
  const { folder, path, lock } = await newPaths();
  const names = new Set<string>();
  const files: FileSystem = {
    ...systemFiles,
    open: (name) => names.add(name).size,
    close() {},
    chmod() {},
    stat: (name) => (names.has(name) ? { ino: 1n, mode: 0n, size: 0n } : undefined),
    remove: (name) => void names.delete(name),
  };
  const opened: string[] = [];
  const openDatabase = (name: string) => {
    opened.push(name);
    return new DatabaseSync(":memory:");
  };
  const turns: (() => void)[] = [];
  const defer = (callback: () => void) => void turns.push(callback);
  const journal = Journal.open(path, sampleSetup, { files, openDatabase, defer });
  expect([readdirSync(folder), opened, [...names]]).toEqual([[], [lock, path], [lock, path]]);
  journal.noteRecords([{ id: "a", key: "k" }]);
  const ended = journal.end({ id: "a", key: "k", error: "It failed." });
  expect(journal.progress()).toMatchObject({ failed: 0 });
  for (const turn of turns) turn();
  await ended;
  expect(journal.progress()).toMatchObject({ failed: 1 });
  journal[Symbol.dispose]();
  expect([...names]).toEqual([path]);
});

test("an error of SQLite is told as the journal's, also if it is of another realm, as in jest", () => {
  const error: unknown = runInNewContext('Object.assign(new Error("no"), { errcode: 26 })');
  expect(toJournalError(error, "mails.sqlite")).toMatchObject({
    message: expect.stringMatching(/^The journal mails.sqlite is not a journal\./),
    cause: error,
  });
});

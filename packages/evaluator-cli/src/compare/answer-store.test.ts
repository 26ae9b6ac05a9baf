import { hash } from "node:crypto";
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { boolean, choice } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { AnswerStore } from "./answer-store.ts";

async function pathOf(content?: string): Promise<string> {
  const path = join(await temporaryFolder(), "answers.sqlite");
  if (content !== undefined) await writeFile(path, content);
  return path;
}

test("two runs at once do not pay for the same answers", async () => {
  const path = await pathOf();
  {
    using first = await AnswerStore.open(path, {});
    first.keep("engine", "state", { failure: "It declined." });
    await expect(AnswerStore.open(path, {})).rejects.toThrow("Another run is writing");
  }
  using later = await AnswerStore.open(path, {});
  expect(later.find("engine", "state")).toEqual({ failure: "It declined." });
});

test("an empty file, as a run leaves that was killed at its start, is taken", async () => {
  const path = await pathOf("");
  using store = await AnswerStore.open(path, {});
  store.keep("engine", "state", { failure: "It declined." });
  expect(store.find("engine", "state")).toEqual({ failure: "It declined." });
});

test("a file that is another's is left unchanged", async () => {
  const path = await pathOf("my own notes");
  await expect(AnswerStore.open(path, {})).rejects.toThrow(
    "is no file of kept answers. Choose another folder with --out.",
  );
  expect(await readFile(path, "utf8")).toBe("my own notes");
});

test("another program's database is left unchanged", async () => {
  const path = await pathOf();
  const theirs = new DatabaseSync(path);
  theirs.exec("CREATE TABLE notes (note TEXT)");
  theirs.close();
  const before = await readFile(path);
  await expect(AnswerStore.open(path, {})).rejects.toThrow("is no file of kept answers");
  expect(await readFile(path)).toEqual(before);
});

test("what was kept by a run that was killed is found by the next", async () => {
  const path = await pathOf();
  using killed = await AnswerStore.open(path, {});
  killed.keep("engine", "state", { failure: "It declined." });
  const left = join(await temporaryFolder(), "answers.sqlite");
  for (const end of ["", "-wal"]) await copyFile(path + end, left + end);
  using later = await AnswerStore.open(left, {});
  expect(later.find("engine", "state")).toEqual({ failure: "It declined." });
});

test("a folder in its place is named", async () => {
  const path = await pathOf();
  await mkdir(path);
  await expect(AnswerStore.open(path, {})).rejects.toThrow(
    /^Cannot read .*answers\.sqlite: illegal operation on a directory/,
  );
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read is named", async () => {
  const path = await pathOf("SQLite format 3");
  await chmod(path, 0);
  await expect(AnswerStore.open(path, {})).rejects.toThrow(
    /^Cannot read .*answers\.sqlite: permission denied/,
  );
});

test("the keys of calls are those of releases before, so that what was paid for is found", async () => {
  const questions = { scam: boolean("A scam?"), kind: choice("What?", { a: "one", b: 'two "2"' }) };
  const states = ["a text", { from: "a@b.example", nested: [1, null, { é: "\u2028" }] }];
  const keys = states.map((state) =>
    hash("sha256", JSON.stringify([Object.entries(questions), state]), "base64url"),
  );
  const path = await pathOf();
  {
    using store = await AnswerStore.open(path, questions);
    for (const state of states) store.keep("engine", state, { failure: "It declined." });
  }
  using database = new DatabaseSync(path);
  const kept = database.prepare("SELECT call FROM outcomes").all();
  expect(kept.map(({ call }) => call)).toEqual(keys.toSorted());
});

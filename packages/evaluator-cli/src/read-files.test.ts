import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { boolean, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { openJournal, runRecords } from "evaluator-runs";
import { expect, test } from "vitest";
import { readAnswers, readRecords } from "./read-files.ts";

const tables = `
CREATE TABLE setups (setup INTEGER PRIMARY KEY, hash TEXT, wire TEXT, model TEXT, questions TEXT);
CREATE TABLE calls (call INTEGER PRIMARY KEY, key TEXT);
CREATE TABLE mails (id TEXT PRIMARY KEY, call INTEGER, error TEXT);
CREATE TABLE answers (call INTEGER PRIMARY KEY, setup INTEGER, state TEXT, evaluation TEXT, digest TEXT);
`;

async function journalWith(
  pragmas = "PRAGMA application_id = 0x54524947; PRAGMA user_version = 4",
) {
  const path = join(await temporaryFolder(), "inbox.triage.sqlite");
  using database = new DatabaseSync(path);
  database.exec(`${tables} ${pragmas}`);
  const questions = JSON.stringify({ scam: { type: "boolean", instructions: "A scam?" } });
  database
    .prepare("INSERT INTO setups VALUES (1, 'h', 'emulator local://emulator', 'm', ?)")
    .run(questions);
  const evaluation = {
    modelId: "local/lexical-1",
    answers: { scam: { type: "boolean", probability: 0.25 } },
  };
  const state = JSON.stringify({
    from: "a@b.example",
    subject: "Hi",
    date: "2026-03-02",
    snippet: "there",
  });
  database
    .prepare("INSERT INTO answers VALUES (1, 1, ?, ?, 'd')")
    .run(state, JSON.stringify(evaluation));
  database.exec("INSERT INTO mails VALUES ('m-1', 1, NULL), ('m-2', 2, 'no answer')");
  return path;
}

test("a journal gives whole answers with their source, and the mails whose call failed", async () => {
  const path = await journalWith();
  const before = await readFile(path);
  const { table, textsOf } = await readAnswers([path], {}, createTestContext());
  const [column] = table.columns;
  expect(column?.source).toMatchObject({ modelId: "local/lexical-1", basis: "lexical" });
  expect([...(column?.values ?? [])]).toEqual([0.25]);
  expect([table.knows("m-1"), table.knows("m-2"), table.knows("m-3")]).toEqual([true, true, false]);
  expect(table.days.from).toBe("2026-03-02");
  expect(await textsOf(new Set(["m-1", "m-2", "m-9"]))).toEqual({
    "m-1": "a@b.example · Hi · 2026-03-02 · there",
  });
  expect(await readFile(path)).toEqual(before);
});

test("the name of a journal may end with the number of a run", async () => {
  const path = join(await temporaryFolder(), "inbox#1.evaluator.sqlite");
  const { fetch } = createEmulator();
  const transport = gatewayTransport({ apiKey: "local", env: {}, fetch });
  const questions = { scam: boolean("Is it a scam?") };
  for (const ids of [["a", "b"], ["b"], ["c"]]) {
    using journal = openJournal(path, { questions, transport });
    const records = ids.map((id) => ({ id, state: { text: `About ${id}` } }));
    await runRecords(records, { journal, transport });
  }
  const knownIds = async (name: string) => {
    const { table } = await readAnswers([name], {}, createTestContext());
    return ["a", "b", "c"].filter((id) => table.knows(id));
  };
  expect(await knownIds(path)).toEqual(["a", "b", "c"]);
  expect(await knownIds(`${path}#1`)).toEqual(["a", "b"]);
  expect(await knownIds(`${path}#2`)).toEqual(["b"]);
  expect(await knownIds(`${path}#3`)).toEqual(["c"]);
  await expect(knownIds(`${path}#4`)).rejects.toThrow(
    /There is no run 4 in .*, which has 3 runs\./,
  );
});

test("a journal of the version before is read too", async () => {
  const path = await journalWith("PRAGMA application_id = 0x54524947; PRAGMA user_version = 3");
  const { table } = await readAnswers([path], {}, createTestContext());
  expect(table.columns).toHaveLength(1);
});

test.each([
  ["PRAGMA application_id = 1; PRAGMA user_version = 3", "is not a journal of this program"],
  ["PRAGMA application_id = 0x54524947; PRAGMA user_version = 2", "is of version 2, not 6"],
])("%s is refused", async (pragmas, message) => {
  const path = await journalWith(pragmas);
  await expect(readAnswers([path], {}, createTestContext())).rejects.toThrow(message);
});

test("a journal that is cut is refused by name, and so is a cut text in it", async () => {
  const path = await journalWith();
  const whole = await readFile(path);
  const text = Buffer.from('"probability":0.25}}');
  const at = whole.indexOf(text);
  for (const damaged of [
    whole.subarray(0, 5000),
    Buffer.concat([whole.subarray(0, at), text.fill(0x20), whole.subarray(at + text.length)]),
  ]) {
    await writeFile(path, damaged);
    const read = readAnswers([path], {}, createTestContext());
    await expect(read).rejects.toThrow(`The journal ${path} is damaged.`);
  }
});

async function readBytes(bytes: Buffer) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "t.csv"), bytes);
  const values: unknown[] = [];
  const take = ({ value }: { value: unknown }) => void values.push(value);
  await readRecords("t.csv", createTestContext({ cwd }), take);
  return values;
}

test("a file of UTF-16 with its mark is read like one of UTF-8", async () => {
  const text = "\uFEFFid,text\na,schön 👍\n";
  const little = Buffer.from(text, "utf16le");
  const big = Buffer.from(text, "utf16le").swap16();
  for (const bytes of [Buffer.from(text), little, big]) {
    expect(await readBytes(bytes)).toEqual([{ id: "a", text: "schön 👍" }]);
  }
});

test("bytes that are not UTF-8 are refused with their line", async () => {
  const advice = "is not UTF-8 text; save the file as UTF-8, in a spreadsheet as CSV UTF-8";
  const text = "id,text\na,\uFFFD\nb,schön\n";
  const line = Buffer.from("b,schön\n", "latin1");
  const bytes = Buffer.concat([Buffer.from(text.slice(0, 12)), line]);
  await expect(readBytes(bytes)).rejects.toThrow(`t.csv line 3: ${advice}`);
  const cut = Buffer.from(text).subarray(0, -3);
  await expect(readBytes(cut)).rejects.toThrow(`t.csv line 3: ${advice}`);
  const half = Buffer.from("\uFEFFid", "utf16le").subarray(0, 5);
  await expect(readBytes(half)).rejects.toThrow(
    "t.csv: it is not whole UTF-16 text; save the file as UTF-8",
  );
});

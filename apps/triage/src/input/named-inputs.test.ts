import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail } from "../testing/samples.ts";
import { startTriage } from "../testing/start-triage.ts";

const lines = (...ids: string[]) =>
  ids.map((id) => `${JSON.stringify(sampleMail({ id, subject: id }))}\n`).join("");

async function folderOf(files: Record<string, string>) {
  const cwd = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}

async function idsIn(cwd: string, name: string) {
  const records = JSON.parse(await readFile(join(cwd, name), "utf8")) as { id: string }[];
  return records.map(({ id }) => id);
}

test.each([
  ["lines.ndjson", "lines"],
  ["Lines.JSONL", "Lines"],
  ["inbox.Json", "inbox"],
  ["mails.txt", "mails.txt"],
  ["mails", "mails"],
])(
  "%s is read by its first bytes, and every command finds it by its name or its journal's",
  async (name, stem) => {
    const cwd = await folderOf({ [name]: lines("a", "b") });
    expect(await startTriage([name], { cwd })).toMatchObject({ exitCode: 0 });
    expect(await idsIn(cwd, `${stem}.triage.json`)).toEqual(["a", "b"]);
    for (const words of [
      ["export", name],
      ["export"],
      ["export", "--journal", `${stem}.triage.sqlite`],
    ]) {
      expect((await startTriage(words, { cwd })).stdout).toMatch(/"id": "a".*"id": "b"/s);
    }
    await startTriage(["report", name], { cwd });
    expect((await readdir(cwd)).toSorted()).toEqual(
      [name, ...["html", "json", "sqlite"].map((end) => `${stem}.triage.${end}`)].toSorted(),
    );
    const worked = await startTriage(["work"], { cwd });
    expect(worked.stderr).toContain("2 answered already");
  },
);

test("a wrong line is named by its place, and left out if it may be", async () => {
  const cwd = await folderOf({ "a.JSONL": `${lines("a")}{"id":\r\n${lines("b")}` });
  const { stderr, exitCode } = await startTriage(["a.JSONL"], { cwd });
  expect(stderr).toContain("record at index 1, line 2 (no id): is not JSON; check line 2 column");
  const left = await startTriage(["a.JSONL", "--skip-invalid"], { cwd });
  expect([exitCode, left.exitCode, await idsIn(cwd, "a.triage.json")]).toEqual([1, 2, ["a", "b"]]);
});

test("of two files with one journal the one that is typed is exported", async () => {
  const cwd = await folderOf({ "a.json": "[]", "a.ndjson": lines("a") });
  await startTriage(["a.ndjson"], { cwd });
  expect((await startTriage(["export", "a.ndjson"], { cwd })).stdout).toContain('"id": "a"');
});

test("standard input is read as a file of the folder would be, and kept nowhere", async () => {
  const cwd = await temporaryFolder();
  const transport = recordingTransport();
  const piped = (...words: string[]) =>
    startTriage(["-", ...words], {
      cwd,
      transport,
      stdin: Readable.from([lines("a"), lines("b")]),
    });
  const dry = await piped("--dry-run");
  expect([dry.stdout, await readdir(cwd)]).toEqual([
    expect.stringContaining("To ask: 2 mails"),
    [],
  ]);
  expect(await piped("--limit", "1")).toMatchObject({ exitCode: 0 });
  const { stdout, stderr, exitCode } = await piped();
  expect([exitCode, transport.requests.length]).toEqual([0, 2]);
  expect(stdout.match(/\b[ab]$/gm)).toEqual(["a", "b"]);
  expect(stderr).toContain(`Wrote 2 of 2 records to ${join(cwd, "stdin.triage.json")}`);
  expect(await idsIn(cwd, "stdin.triage.json")).toEqual(["a", "b"]);
  const names = ["stdin.triage.json", "stdin.triage.sqlite"];
  expect((await readdir(cwd)).toSorted()).toEqual(names);
  expect(await startTriage(["report", "-"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await readdir(cwd)).toContain("stdin.triage.html");
  const exported = await startTriage(["export", "-"], { cwd });
  expect(exported.stderr).toContain("Save the piped input under this name, or pipe it in again.");
});

test("what is piped in and is no mails is named, and an interrupt ends the waiting for it", async () => {
  const cwd = await temporaryFolder();
  const stdin = Readable.from(["From ada"]);
  const { stderr } = await startTriage(["-"], { cwd, stdin });
  expect(stderr).toContain("Standard input cannot be used, and nothing was sent:\n  it is no list");
  expect(stderr).toContain("evaluator-triage import FILE inbox.json");
  const interruption = new AbortController();
  const { signal } = interruption;
  const waiting = startTriage(["-"], { cwd, signal, stdin: new Readable({ read() {} }) });
  interruption.abort(new Error("Ctrl-C"));
  expect(await waiting).toMatchObject({ exitCode: 130 });
});

test.each([
  ["takeout.mbox", "takeout.mbox"],
  ["take out.mbox", '"take out.mbox"'],
  ["inbox.json", "inbox.json"],
])("an mbox named %s is answered with the command that imports it", async (name, typed) => {
  const cwd = await folderOf({ [name]: "From ada Mon Nov  2 09:00:00 2026\nSubject: s\n\nHi" });
  const { exitCode, stderr } = await startTriage([name], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `Import an mbox, a mail or an archive: evaluator-triage import ${typed} inbox.json\n`,
  );
});

test.each(["", " \n\n"])("an input of %j is said to be empty", async (text) => {
  const cwd = await folderOf({ "empty.json": text });
  const named = await startTriage(["empty.json"], { cwd });
  const piped = await startTriage(["-"], { cwd, stdin: Readable.from([text]) });
  for (const { exitCode, stderr } of [named, piped]) {
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("\n  it is empty; write a JSON"),
    ]);
    expect(stderr).not.toContain("mbox");
  }
});

test("a folder is answered with the command that imports it", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "Maildir"));
  const { stderr } = await startTriage(["Maildir"], { cwd });
  expect(stderr).toContain("Import mail first: evaluator-triage import SOURCE inbox.json");
});

test.each(["inbox.triage.json", "a.triage.ndjson", "a.triage.CSV", "a.triage.sqlite"])(
  "%s has results, and is no input",
  async (name) => {
    const { stderr } = await startTriage([name], { cwd: await folderOf({ [name]: lines("a") }) });
    expect(stderr).toContain("has results; give the file of mails.");
  },
);

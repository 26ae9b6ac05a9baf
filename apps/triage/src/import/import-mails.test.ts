import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import { startTriage } from "../testing/start-triage.ts";

test("names broken mails and files that are none, and goes on", async () => {
  const { mails, stderr, exitCode } = await importOf(
    {
      "mails/b.eml": `${dateHeader}\nSubject: fine\n\nHi`,
      "mails/a\u001b[2J.eml": "",
      "mails/deep/c.eml": "Only words, with a secret",
      "mails/notes.txt": "no mail, but a secret",
    },
    "mails",
  );
  expect(mails).toMatchObject([{ subject: "fine" }]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    "Broken: a.eml: it has no header\nBroken: deep/c.eml: it has no header\nNot read: notes.txt: it is no mail\n",
  );
  expect(stderr).toContain("and 2 broken; 1 file is no mail.\n");
  expect(stderr).not.toContain("secret");
});

test("names a source that is not there", async () => {
  const { stderr, exitCode } = await importOf({}, "mails.mbox");
  expect(stderr).toMatch(
    /Cannot import .*mails\.mbox: no such file or directory\. Check the path\./,
  );
  expect(exitCode).toBe(1);
});

test("a repeated Message-ID stays an id of its own", async () => {
  const message = `${dateHeader}\nMessage-ID: <x@y>\n\nHi`;
  const { mails } = await importOf({ "a.mbox": mbox(message, message, message) });
  expect(mails?.map(({ id }) => id)).toEqual(["x@y", "x@y#2", "x@y#3"]);
});

test("a mail without Message-ID keeps its id over imports", async () => {
  const file = {
    "a.mbox": mbox(`${dateHeader}\nSubject: one\n\nHi`, `${dateHeader}\nSubject: two\n\nHi`),
  };
  const [first, second] = [await importOf(file), await importOf(file)];
  expect(first.mails).toEqual(second.mails);
});

test.each([
  [
    "a cut archive",
    "a.gz",
    gzipSync(mbox(`${dateHeader}\n\n${"Hi ".repeat(9999)}`)).subarray(0, 60),
  ],
  ["broken JSON", "a.json", '[{"id":"secret'],
  ["something else", "a.pdf", "%PDF-1.7"],
])("writes nothing from %s", async (_, name, content) => {
  const { exitCode, stderr, cwd } = await importOf({ [name]: content });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/No mail is in .*\. Give an mbox/);
  expect(stderr).not.toContain("secret");
  expect(await readdir(cwd)).toEqual([name]);
});

const message = JSON.stringify({ id: "1", internalDate: "1793610000000", snippet: "Hi" });

test.each([
  ["an archive", "a.mbox.gz", gzipSync(longMbox(), { level: 0 }).subarray(0, -100_000)],
  ["a dump", "a.json", `[${message},${message},{"id":"secret`],
  ["an archived dump", "a.json.gz", gzipSync(`[${message},${message}]`).subarray(0, -9)],
])("%s that breaks off gives what came before, and says where", async (_, name, content) => {
  const { mails, exitCode, stderr } = await importOf({ [name]: content });
  const count = mails?.length ?? 0;
  expect(count).toBeGreaterThan(1);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    new RegExp(
      `Broken: after message ${count}: (?:it .*breaks off.*|the list of records has no end); the rest is lost\n`,
    ),
  );
  expect(stderr).toMatch(/and 1 broken\.\n/);
  expect(stderr).not.toContain("secret");
});

function longMbox(): string {
  return mbox(...Array.from({ length: 500 }, () => `${dateHeader}\n\n${"Hi ".repeat(999)}`));
}

test("never writes over its source", async () => {
  const { exitCode, stderr } = await importOf({ "inbox.json": "[]" });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("is the input file");
});

test("the same mail in several folders is one record; folders and labels are counted", async () => {
  const message = `${dateHeader}\nMessage-ID: <x@y>\nX-Gmail-Labels: Inbox,Poslano\n\nHi`;
  const files = {
    "all/INBOX/cur/1.a.host:2,S": message,
    "all/.Trash/cur/1.a.host:2,S": message,
    "all/b.mbox": mbox(message.replace("Hi", "Ho")),
  };
  const { mails, stderr } = await importOf(files, "all");
  expect(mails?.map(({ id, snippet }) => [id, snippet])).toEqual([
    ["x@y", "Hi"],
    ["x@y#2", "Ho"],
  ]);
  expect(stderr).toContain("Mails by folder: .Trash 1, b.mbox 1.\nLabels: Inbox 3, Poslano 3.\n");
  expect(stderr).toContain(", 1 in another folder too and 0 broken");
});

test("what its program marked as gone is left out and counted, of the programs of files alone", async () => {
  const mail = (head: string) => `${head}\n${dateHeader}\nSubject: s\n\nHi`;
  const { mails, stderr } = await importOf(
    {
      "all/a.mbox": mbox(
        mail("X-Mozilla-Status: 0009"),
        mail("X-Status: AD"),
        mail("X-Mozilla-Status: 0001"),
      ),
      "all/b.eml": mail("X-Status: D"),
      "all/mh/,2": mail("X-A: b"),
      "all/md/tmp/3.a.host": mail("X-A: b"),
    },
    "all",
  );
  expect(mails).toHaveLength(2);
  expect(stderr).toContain(", 3 deleted, 1 unfinished and 0 broken");
});

test("an import replaces the mails of an import or of sample, and no other file", async () => {
  const files = { "a.mbox": mbox(`${dateHeader}\n\nHi`) };
  const { cwd } = await importOf(files);
  const again = () => startTriage(["import", "a.mbox", "inbox.json"], { cwd });
  expect((await again()).exitCode).toBe(0);
  await rm(join(cwd, "inbox.json"));
  await startTriage(["sample"], { cwd });
  expect((await again()).exitCode).toBe(0);
  await writeFile(join(cwd, "inbox.json"), '[{ "id": "1", "note": "mine" }]');
  const refused = await again();
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining("this command did not write it"),
  ]);
  expect(await readFile(join(cwd, "inbox.json"), "utf8")).toContain("mine");
});

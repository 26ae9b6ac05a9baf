import { mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";
import { mailsOf } from "../testing/samples.ts";
import { startTriage } from "../testing/start-triage.ts";

const mail = (subject: string) => `${dateHeader}\nSubject: ${subject}\nFrom: a@b.example\n\nHi\n`;
const emlx = (subject: string, flags = 0) =>
  `${Buffer.byteLength(mail(subject))}      \n${mail(subject)}<?xml version="1.0"?><plist><dict><key>flags</key>\n<integer>${flags}</integer></dict></plist>\n`;

test.each([
  [
    "a Maildir",
    {
      "cur/1700000000.M1P2.host:2,S": mail("one"),
      "new/1700000001.M1P2.host": mail("two"),
      ".Archive/cur/1700000002.M1P2.host:2,": mail("three"),
      "dovecot-uidlist": "3 V1 N4",
    },
    ["dovecot-uidlist: it is no mail"],
  ],
  [
    "a folder of Apple Mail",
    {
      "INBOX.mbox/Data/1/Messages/1.emlx": emlx("one"),
      "INBOX.mbox/Data/1/Messages/2.partial.emlx": emlx("two"),
      "Export.mbox/mbox": mbox(mail("three"), mail("four")),
      "Export.mbox/table_of_contents": Buffer.from([0, 1, 2, 3]),
    },
    ["Export.mbox/table_of_contents: it is no mail"],
  ],
  [
    "a folder of mixed files",
    {
      "a.eml": mail("eml"),
      "b.emlx": emlx("emlx"),
      c: mbox(mail("mbox 1"), mail("mbox 2")),
      "d.mbox.gz": gzipSync(mbox(mail("gzip"))),
      "e.json": `[{"id":"1","payload":{"headers":[{"name":"Subject","value":"Subject: dump"}]}}]`,
      "f/settings.json": '{"filters": []}',
      "f/g": mail("deep"),
      "f/no-mails": "From ada@example.com Mon Nov  2 09:00:00 2026\n",
      spam: mail("broken head").replace("\n", "\nno header at all\nX-One: 1\nX-Two: 2\n"),
      "photo.jpg": Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
      ".hidden": mail("hidden"),
      "inbox.json": '[{"id":"1","date":"","from":"","subject":"","snippet":""}]',
    },
    [
      "f/no-mails: it has no mails",
      "f/settings.json: it is no mail",
      "inbox.json: it is an input file; triage it without an import",
      "photo.jpg: it is no mail",
    ],
  ],
])("%s comes whole, and what is no mail is named", async (_, files, notRead) => {
  const inFolder = Object.entries(files).map(([name, content]) => [`all/${name}`, content]);
  const { mails, stderr, exitCode, cwd } = await importOf(
    Object.fromEntries(inFolder) as Record<string, string | Uint8Array>,
    "all",
    "--skipped",
    "skipped.txt",
  );
  const written = Object.values(files).map((content) =>
    content.toString().startsWith("\u001f") ? mbox(mail("gzip")) : content.toString(),
  );
  const subjects = written.join("\n").matchAll(/Subject: ([\w ]+)/g);
  expect(mails?.map(({ subject }) => subject.replace("Subject: ", "")).toSorted()).toEqual(
    Array.from(subjects, ([, subject = ""]) => subject).toSorted(),
  );
  expect(exitCode).toBe(0);
  expect(stderr).toContain(notRead.map((line) => `Not read: ${line}\n`).join(""));
  const count = notRead.length === 1 ? "1 file is" : `${notRead.length} files are`;
  expect(stderr).toContain(`; ${count} no mail.\n`);
  expect(await readFile(join(cwd, "skipped.txt"), "utf8")).toBe(`${notRead.join("\n")}\n`);
});

const ole = Buffer.from("d0cf11e0a1b11ae1", "hex");

test.each([
  ["mail.msg", ole, "it is a mail of Outlook (.msg); open it in the new Outlook"],
  [
    "mail",
    Buffer.concat([ole, Buffer.from("__substg1.0_0037", "utf16le")]),
    "it is a mail of Outlook (.msg); open it",
  ],
  ["mail.pst", "!BDN....", "it is a data file of Outlook (.pst, .ost); make .eml files"],
  ["cut.zip", "PK\u0003\u0004....", "it is broken, or breaks off"],
  ["empty.mbox", "", "it is empty"],
  ["letter.doc", ole, "it is no mail"],
])("%s alone is exit 1, and says what to do", async (name, content, reason) => {
  const { exitCode, stderr, mails, cwd } = await importOf({ [name]: content });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`${name}: ${reason}`);
  expect(stderr).toMatch(/No mail is in .*\. Give an mbox/);
  expect(mails).toBeNull();
  expect(await readdir(cwd)).toEqual([name]);
});

test.each([
  ["one.eml", mail("one")],
  ["one.emlx", emlx("one")],
  ["one.eml", `\uFEFF\r\n${mail("one")}`],
  ["one", mail("one").replaceAll("\n", "\r\n")],
])("one mail alone, %s, is a source", async (name, content) => {
  const { mails, exitCode } = await importOf({ [name]: content });
  expect(mails).toMatchObject([{ subject: "one", from: "a@b.example", snippet: "Hi" }]);
  expect(exitCode).toBe(0);
});

test("links to mails are followed, and links to folders named", async () => {
  const files = { "all/a.eml": mail("one"), "elsewhere/b.eml": mail("two") };
  const { cwd } = await importOf(files, "all");
  await symlink(join(cwd, "elsewhere/b.eml"), join(cwd, "all/b.eml"));
  await symlink(join(cwd, "all"), join(cwd, "all/circle"));
  await symlink(join(cwd, "nowhere"), join(cwd, "all/gone"));
  const { exitCode, stderr } = await startTriage(["import", "all", "inbox.json"], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Broken: circle: it is a link to a folder; give that folder\n");
  expect(stderr).toContain("Broken: gone: it cannot be read: no such file or directory\n");
  expect(stderr).toContain("Wrote 2 records");
});

test("one record and one file are counted as one", async () => {
  const { stderr } = await importOf({ "all/a.eml": mail("one"), "all/a.jpg": "\u00ff" }, "all");
  expect(stderr).toMatch(/^Wrote 1 record to .*; 1 file is no mail\.$/m);
});

test("names the first ten of what was not read, and all in the file of --skipped", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`all/${index + 10}.jpg`, "\u00ff"]),
  );
  const { exitCode, stderr, cwd } = await importOf(files, "all", "--skipped", "skipped.txt");
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^(?:Not read: \d\d\.jpg: it is no mail\n){10}And 2 more; --skipped FILE names all\./,
  );
  const named = await readFile(join(cwd, "skipped.txt"), "utf8");
  expect(named.split("\n")).toHaveLength(13);
});

test("--skipped replaces its own list, and no other file", async () => {
  const files = { "all/a.eml": mail("one"), "all/b.jpg": "\u00ff", "notes.txt": "mine" };
  const { exitCode, stderr, cwd } = await importOf(files, "all", "--skipped", "notes.txt");
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining("notes.txt exists, and this command did not write it"),
  ]);
  expect(await readFile(join(cwd, "notes.txt"), "utf8")).toBe("mine");
  const words = ["import", "all", "inbox.json", "--skipped", "new.txt"];
  for (const _ of [1, 2]) expect(await startTriage(words, { cwd })).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(cwd, "new.txt"), "utf8")).toBe("b.jpg: it is no mail\n");
});

test("a mail without a usable Date takes the last Received, the separator or the file's time", async () => {
  const received = "Received: by b; Tue, 03 Nov 2026 10:00:00 +0000 (CET)";
  const older = "Received: by a; Sun, 01 Nov 2026 10:00:00 +0000";
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "all"));
  const files = {
    "1.eml": `Date: soon\nSubject: received\n${received}\n${older}\n\nHi`,
    "2.mbox": `From a@b.example Wed Nov  4 09:00:00 2026\nSubject: separator\nDate: Mon, 99 Nov 20266\n\nHi`,
    "3.eml": "From: a@b.example\nSubject: file\n\nHi",
    "4.eml": `Date: Mon, 9 Nov 2026 23:00:00 Somewhere Time\nSubject: odd zone\n\nHi`,
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(cwd, "all", name), content);
    await utimes(join(cwd, "all", name), 0, new Date("2026-11-05T09:00:00Z"));
  }
  const { exitCode } = await startTriage(["import", "all", "inbox.json"], { cwd });
  expect(exitCode).toBe(0);
  expect((await mailsOf(join(cwd, "inbox.json"))).map(({ date }) => date)).toEqual([
    "2026-11-03",
    "2026-11-04",
    "2026-11-05",
    "2026-11-09",
  ]);
});

/** Mailboxes as their programs write them, and the program that converts each. */
const otherMailboxes: readonly (readonly [string, string, string, string])[] = [
  [
    "mmdf",
    `\u0001\u0001\u0001\u0001\n${mail("one")}\u0001\u0001\u0001\u0001\n`,
    "an MMDF mailbox",
    "mutt",
  ],
  ["mbx", `*mbx*\r\n6b0af2b500000000\r\n${"\0".repeat(2022)}${mail("one")}`, "(mbx)", "mailutil"],
  [
    "RMAIL",
    `BABYL OPTIONS:\nVersion: 5\n\u001f\f\n1,,\n${mail("one")}`,
    "a Babyl mailbox",
    "unrmail",
  ],
  [
    "u.1",
    `2 M1e C6b0af14e\n\u0001\u0002N          0000000000000077\n${mail("one")}`,
    "(dbox)",
    "doveadm",
  ],
  [
    "m.1",
    `2 M1e C6ae84300\n\u0001\u0002N          0000000000000077\n${mail("one")}`,
    "(dbox)",
    "doveadm",
  ],
];

test.each(otherMailboxes)(
  "a mailbox %s is named with the program that converts it, alone and beside other mails",
  async (name, content, kind, program) => {
    const alone = await importOf({ [name]: content });
    expect(alone.exitCode).toBe(1);
    const beside = await importOf(
      { [`all/${name}`]: content, "all/good.eml": mail("good") },
      "all",
    );
    expect(beside.exitCode).toBe(2);
    expect(beside.mails?.map(({ subject }) => subject)).toEqual(["good"]);
    for (const { stderr } of [alone, beside]) {
      expect(stderr).toContain(`${name}: it is `);
      expect(stderr).toContain(kind);
      expect(stderr).toContain(program);
    }
  },
);

test("a mail that Apple Mail marks as deleted is left out and counted", async () => {
  const [read, deleted] = [1, 2];
  const { mails, stderr, exitCode } = await importOf(
    { "all/1.emlx": emlx("read", read), "all/2.emlx": emlx("deleted", read + deleted) },
    "all",
  );
  expect(exitCode).toBe(0);
  expect(mails?.map(({ subject }) => subject)).toEqual(["read"]);
  expect(stderr).toContain("1 deleted");
});

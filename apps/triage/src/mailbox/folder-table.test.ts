import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Mail } from "../input/mail-schema.ts";
import { FolderTable } from "./folder-table.ts";

const state = {
  account: "imaps://ada@imap.example.com",
  folder: "INBOX",
  uidvalidity: 1,
  uidnext: 3,
  highestmodseq: "7",
  since: null,
};
const mail = (id: string) => ({ id, subject: "Hello" }) as Mail;

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "folder-table-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "a.mailbox.sqlite");
}

function openTable(path = newPath()): FolderTable {
  const table = new FolderTable(path);
  onTestFinished(() => table[Symbol.dispose]());
  return table;
}

test("if the file of mails cannot be written, the table stays as it was", async () => {
  const table = openTable();
  await table.addMails([
    [1, mail("a")],
    [2, mail("b")],
  ]);
  await table.endSync(state, [], async () => undefined);
  const full = new Error("The disk is full.");
  const ended = table.endSync({ ...state, uidnext: 9 }, [2], () => Promise.reject(full));
  await expect(ended).rejects.toBe(full);
  expect(table.state).toMatchObject(state);
  expect(table.listUids()).toEqual([1, 2]);
});

test("equal mails have ids of their own, also if they come later", async () => {
  const table = openTable();
  await table.addMails([
    [1, mail("a")],
    [2, mail("a")],
  ]);
  await table.addMails([[3, mail("a")]]);
  await table.endSync(state, [], async () => undefined);
  expect(table.listUids()).toEqual([1, 2, 3]);
  expect(Array.from(table.listMails(), (mail) => mail.id)).toEqual(["a", "a#2", "a#3"]);
});

test("a mail is not replaced by another one at its UID, and its text not by none", async () => {
  const table = openTable();
  const source = { account: "a", folder: "INBOX", uidvalidity: 1, uid: 1 };
  const full = { ...mail("a"), from: "ada@example.com", snippet: "Hi", source };
  await table.addMails([[1, full]]);
  await table.addMails([[1, { ...mail("b"), from: "", snippet: "" }]]);
  expect([...table.listMails()]).toEqual([full]);
  await table.beginSync({ ...state, uidvalidity: 2 });
  const moved = { ...source, uidvalidity: 2, uid: 9 };
  await table.addMails([[9, { ...full, snippet: "", source: moved }]]);
  expect([...table.listMails()]).toEqual([{ ...full, source: moved }]);
});

test("a mail with nothing to ask about is known and left out", async () => {
  const table = openTable();
  await table.addMails([[1, { ...mail("a"), from: "", subject: "", snippet: "" }]]);
  expect([table.listUids(), [...table.listMails()], table.count, table.empty]).toEqual([
    [1],
    [],
    0,
    1,
  ]);
});

test("mails whose text an earlier version lost are read again, once", async () => {
  const path = newPath();
  const old = new DatabaseSync(path);
  old.exec(`CREATE TABLE folder (one INTEGER PRIMARY KEY, account TEXT NOT NULL, folder TEXT NOT NULL,
    uidvalidity INTEGER NOT NULL, uidnext INTEGER, highestmodseq TEXT, since TEXT);
    INSERT INTO folder VALUES (1, 'imaps://ada@imap.example.com', 'INBOX', 1, 4, '7', NULL);
    CREATE TABLE mail (id TEXT PRIMARY KEY, uid INTEGER UNIQUE, record TEXT NOT NULL)`);
  const insert = old.prepare("INSERT INTO mail VALUES (?, ?, ?)");
  const texts = ["", "", "Hi"].entries();
  for (const [at, snippet] of texts) insert.run(`m${at}`, at + 1, JSON.stringify({ snippet }));
  old.close();
  const table = openTable(path);
  expect(table.listUids()).toEqual([3]);
  expect(table.state).toMatchObject({ uidvalidity: 1, uidnext: null, highestmodseq: null });
  await table.addMails([[1, { ...mail("m0"), from: "ada@example.com", snippet: "" }]]);
  await table.endSync(state, [], async () => undefined);
  const again = openTable(path);
  expect([again.listUids(), again.state?.uidnext]).toEqual([[1, 3], 3]);
});

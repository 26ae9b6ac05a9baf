import { mkdtempSync, rmSync } from "node:fs";
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

function openTable(): FolderTable {
  const folder = mkdtempSync(join(tmpdir(), "folder-table-"));
  const table = new FolderTable(join(folder, "a.mailbox.sqlite"));
  onTestFinished(() => {
    table[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });
  return table;
}

test("if the file of mails cannot be written, the table stays as it was", async () => {
  const table = openTable();
  await table.add([
    [1, mail("a")],
    [2, mail("b")],
  ]);
  await table.end(state, [], async () => undefined);
  const full = new Error("The disk is full.");
  const ended = table.end({ ...state, uidnext: 9 }, [2], () => Promise.reject(full));
  await expect(ended).rejects.toBe(full);
  expect(table.state).toMatchObject(state);
  expect(table.uids()).toEqual([1, 2]);
});

test("equal mails have ids of their own, also if they come later", async () => {
  const table = openTable();
  await table.add([
    [1, mail("a")],
    [2, mail("a")],
  ]);
  await table.add([[3, mail("a")]]);
  await table.end(state, [], async () => undefined);
  expect(table.uids()).toEqual([1, 2, 3]);
  expect(Array.from(table.mails(), (mail) => mail.id)).toEqual(["a", "a#2", "a#3"]);
});

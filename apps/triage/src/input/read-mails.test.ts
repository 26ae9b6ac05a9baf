import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TriageError } from "../errors.ts";
import { sampleMail } from "../testing/sample-mail.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { readMails } from "./read-mails.ts";

async function fileWith(content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), "inbox.json");
  await writeFile(path, content);
  return path;
}

test("a byte order mark in front is skipped", async () => {
  const path = await fileWith(`\uFEFF${JSON.stringify([sampleMail()])}`);
  expect(await readMails(path)).toEqual([sampleMail()]);
});

test("a missing file is named", async () => {
  const path = join(await temporaryFolder(), "inbox.json");
  await expect(readMails(path)).rejects.toThrow(`Cannot read ${path}: no such file or directory.`);
});

test("a folder is not a file", async () => {
  await expect(readMails(await temporaryFolder())).rejects.toThrow("on a directory");
});

test("broken JSON is named by its place and never quoted", async () => {
  const path = await fileWith('[\n  { "id": "m-1", "subject": "Meet me at noon" "date": "" }\n]');
  const message = `${path} cannot be used, and nothing was sent:\n  it is not JSON; check line 2 column 47`;
  await expect(readMails(path)).rejects.toThrow(new TriageError(message));
});

test("broken JSON without a known place is not quoted either", async () => {
  const path = await fileWith("From: mother, Subject: noon");
  await expect(readMails(path)).rejects.toThrow(/it is not JSON; check the whole file$/);
});

test("another encoding is refused instead of read as something else", async () => {
  const path = await fileWith(Buffer.from(`\uFEFF${JSON.stringify([sampleMail()])}`, "utf16le"));
  await expect(readMails(path)).rejects.toThrow("it is not UTF-8 text");
});

test("wrong records are named under the file", async () => {
  const path = await fileWith(JSON.stringify([sampleMail({ date: "" })]));
  await expect(readMails(path)).rejects.toThrow(
    `${path} cannot be used, and nothing was sent:\n  record at index 0 (id "m-1"): date `,
  );
});

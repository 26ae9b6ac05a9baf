import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { verifyResults, writeInbox } from "./triage-section.ts";

const resultOf = (id: string) => ({ id, category: "security_alert", scam: 0.31 });

test("an inbox holds mails that all differ", async () => {
  const path = join(await temporaryFolder(), "inbox.json");
  await writeInbox(path, 3);
  const mails: { id: string; subject: string }[] = JSON.parse(await readFile(path, "utf8"));
  expect(new Set(mails.map(({ id }) => id)).size).toBe(3);
  expect(new Set(mails.map(({ subject }) => subject)).size).toBe(3);
});

test.each([
  ["a mail is missing", [resultOf("mail-0")]],
  ["a mail is there twice", [resultOf("mail-0"), resultOf("mail-0")]],
  ["an answer is missing", [resultOf("mail-0"), { id: "mail-1" }]],
  ["an answer is another", [resultOf("mail-0"), { ...resultOf("mail-1"), scam: 0 }]],
  ["there is one too many", ["mail-0", "mail-1", "mail-2"].map(resultOf)],
])("results are not whole when %s", async (_, records) => {
  const path = join(await temporaryFolder(), "inbox.triage.json");
  await writeFile(path, JSON.stringify(records));
  await expect(verifyResults(path, 2)).rejects.toThrow("not 2");
});

test("results are whole when every mail has its answers", async () => {
  const path = join(await temporaryFolder(), "inbox.triage.json");
  await writeFile(path, JSON.stringify(["mail-0", "mail-1"].map(resultOf)));
  await expect(verifyResults(path, 2)).resolves.toBeUndefined();
});

import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ResultRecord } from "evaluator-runs/results";
import { openTransport } from "evaluator-runs/commands";
import { startTriage } from "./testing/start-triage.ts";

// What the contract tells a test to expect (section 4.7), over the recorded mails of the inbox.
const inbox = new URL("../../../fixtures/mail/inbox.json", import.meta.url);
let folder: string;
let records: ResultRecord[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "triage-"));
  await copyFile(inbox, join(folder, "inbox.json"));
  await startTriage(["inbox.json", "--offline"], { cwd: folder, openTransport });
  records = JSON.parse(await readFile(join(folder, "inbox.triage.json"), "utf8"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function about(subject: string): ResultRecord[] {
  return records.filter((record) => record.subject === subject);
}

test("boilerplate consent alerts repeated in a thread all score about 3.9 importance", () => {
  const alerts = about("Security alert: an app was given access to your account");
  expect(alerts).toHaveLength(3);
  for (const { importance } of alerts) expect(importance).toBeCloseTo(3.9, 1);
});

test("a real breach alert scores lower than the boilerplate", () => {
  const [breach] = about("Your address was found in a data breach");
  expect(breach?.category).toBe("security_alert");
  expect(breach?.importance).toBeLessThan(3.8);
});

test("a reminder the user sent gets a high scam probability", () => {
  const [reminder] = about("dont forget!!");
  expect(reminder?.category).toBe("personal_reminder");
  expect(reminder?.scam).toBeGreaterThan(0.5);
});

test("an old mail with a relative deadline still scores as urgent", () => {
  const [oldest] = about("Signature needed by tomorrow noon");
  expect(oldest?.date).toBe("2026-02-23");
  expect(oldest?.importance).toBeGreaterThan(3.5);
});

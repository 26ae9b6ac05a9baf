import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { imapEnv as env, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { startTriage } from "../testing/start-triage.ts";

const internaldate = "02-Nov-2026 09:00:00 +0000";
const raws = [
  "Message-ID: <a@example.com>\r\nFrom: ada@example.com\r\nSubject: a\r\n\r\nHello.",
  "From: ada@example.com\r\nSubject: no id\r\n\r\nHello.",
  "From: ada@example.com\r\nSubject: no id\r\n\r\nHello.",
];

/** Imports a mailbox and asks about its mails; the answers are those of a transport for tests. */
async function importedFolder() {
  const messages = raws.map((raw) => ({ raw, internaldate }));
  const folders = { Archive: { "special-use": "\\Archive" } };
  const { server, account } = await startHoodiecrow({ messages, uidvalidity: 7 }, { folders });
  const cwd = await temporaryFolder();
  const run = (...words: string[]) => startTriage(words, { cwd, env });
  const write = (name: string, text: string) => writeFile(join(cwd, name), text);
  await run("import", `${account}/INBOX`, "inbox.json");
  await run("inbox.json");
  const countIn = (folder: string) => server.getMailbox(folder)?.messages.length;
  return { account, cwd, run, write, countIn };
}

test("a plan has a line for each mail that a rule takes, and all of it can be applied", async () => {
  const { account, cwd, run, write, countIn } = await importedFolder();
  await write("rules.txt", "# mine\nscam >= 0 -> archive\nnew -> flag\n");
  await write("inbox.plan.ndjson", "");
  await chmod(join(cwd, "inbox.plan.ndjson"), 0o644);
  const { exitCode, stderr } = await run("plan", "inbox.json", "--rules", "rules.txt");
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining("line 2: scam >= 0 → archive: 3 mails"),
  ]);
  expect(stderr).toContain("; no promise: no calibration (--calibration)\n");
  const path = join(cwd, "inbox.plan.ndjson");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    [1, 2, 3].map((uid) => ({
      id: expect.any(String),
      account,
      folder: "INBOX",
      uidvalidity: 7,
      uid,
      modseq: "3",
      messageId: uid === 1 ? "a@example.com" : null,
      from: "ada@example.com",
      subject: uid === 1 ? "a" : "no id",
      action: "archive",
      target: null,
      rule: "scam >= 0 -> archive",
      evidence: null,
    })),
  );
  expect((await run("apply", "inbox.plan.ndjson", "--yes")).exitCode).toBe(0);
  expect([countIn("INBOX"), countIn("Archive")]).toEqual([0, 3]);
  const again = await run("plan", "inbox.json", "--rules", "rules.txt");
  expect([again.exitCode, again.stderr]).toEqual([
    1,
    expect.stringContaining('which "undo" needs. Move it'),
  ]);
  expect((await run("undo", "inbox.plan.ndjson")).exitCode).toBe(0);
  expect([countIn("INBOX"), countIn("Archive")]).toEqual([3, 0]);
});

test("a plan of which nothing was applied may be made anew", async () => {
  const { run, write } = await importedFolder();
  await write("rules.txt", "scam >= 0 -> move Nowhere\n");
  await run("plan", "inbox.json", "--rules", "rules.txt");
  const refused = await run("apply", "inbox.plan.ndjson", "--yes");
  expect(refused.stderr).toContain("There is no folder Nowhere; nothing was done.");
  await write("rules.txt", "scam >= 0 -> archive\n");
  expect((await run("plan", "inbox.json", "--rules", "rules.txt")).exitCode).toBe(0);
  expect((await run("apply", "inbox.plan.ndjson", "--yes")).exitCode).toBe(0);
});

test("another action is refused with line and column, and no plan is written", async () => {
  const { cwd, run, write } = await importedFolder();
  await write("rules.txt", "scam >= 0.9 -> delete\nnew ->  keyword \\Deleted\nnew -> move\n");
  const { exitCode, stderr } = await run("plan", "inbox.json", "--rules", "rules.txt");
  expect(exitCode).toBe(1);
  expect(stderr).toContain('line 1 column 16: "delete" is not an action; use archive, junk,');
  expect(stderr).toContain('line 2 column 9: "\\Deleted" is not a keyword');
  expect(stderr).toContain('line 3 column 8: "move" is not an action');
  await expect(stat(join(cwd, "inbox.plan.ndjson"))).rejects.toThrow("ENOENT");
  const exported = await run("export", "inbox.json", "--rules", "rules.txt");
  expect(exported.exitCode).toBe(0);
});

test("mails of an export have no place on a server", async () => {
  const cwd = await temporaryFolder();
  const mail = { id: "a", date: "2026-11-02", from: "ada@example.com", subject: "a", snippet: "b" };
  await writeFile(join(cwd, "inbox.json"), JSON.stringify([mail]));
  await writeFile(join(cwd, "rules.txt"), "scam >= 0 -> flag");
  await startTriage(["inbox.json"], { cwd });
  const { exitCode, stderr } = await startTriage(["plan", "inbox.json", "--rules", "rules.txt"], {
    cwd,
  });
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining("The mail a is not from a mailbox"),
  ]);
});

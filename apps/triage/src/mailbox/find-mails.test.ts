import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { imapEnv as env, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { startTriage } from "../testing/start-triage.ts";

const internaldate = "02-Nov-2026 09:00:00 +0000";
const sent = "Date: Mon, 02 Nov 2026 08:59:00 +0100\r\n";

function mailOf(subject: string, messageId: string | null = subject): string {
  const id = messageId === null ? "" : `Message-ID:\r\n <${messageId}@example.com>\r\n`;
  return `${id}From: Ada <ada@example.com>\r\nSubject: ${subject}\r\n${sent}\r\nHello.\r\n`;
}

/** Triages an export, and starts a server with other mails. */
async function exportAndServer(exported: readonly string[], stored: readonly string[]) {
  const messages = stored.map((raw) => ({ raw, internaldate }));
  const folders = { Archive: { "special-use": "\\Archive" } };
  const { server, account } = await startHoodiecrow({ messages, uidvalidity: 7 }, { folders });
  const cwd = await temporaryFolder();
  const write = async (mails: readonly string[]) => {
    const mbox = mails.map((raw) => `From - Mon Nov  2 09:00:00 2026\n${raw}\n`);
    await writeFile(join(cwd, "inbox.mbox"), mbox.join("").replaceAll("\r", ""));
    await run("import", "inbox.mbox", "inbox.json");
  };
  await writeFile(join(cwd, "rules.txt"), "scam >= 0 -> archive\n");
  const run = (...words: string[]) => startTriage(words, { cwd, env });
  await write(exported);
  await run("inbox.json");
  const plan = () =>
    run("plan", "inbox.json", "--rules", "rules.txt", "--mailbox", `${account}/INBOX`);
  const subjectsIn = (folder: string) =>
    (server.getMailbox(folder)?.messages ?? []).map(({ raw }) => /Subject: (.*)/.exec(raw)?.[1]);
  return { server, cwd, run, account, write, plan, subjectsIn };
}

test("mails of an mbox are found in a folder by Message-ID, moved and moved back", async () => {
  const mails = [mailOf("a"), mailOf("=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "b"), mailOf("c")];
  const { cwd, run, plan, subjectsIn } = await exportAndServer(mails.slice(0, 2), mails);
  const planned = await plan();
  expect([planned.exitCode, planned.stderr]).toEqual([
    0,
    expect.stringContaining("scam >= 0 → archive: 2 mails"),
  ]);
  const text = await readFile(join(cwd, "inbox.plan.ndjson"), "utf8");
  const [first, second] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  expect(first).toMatchObject({
    id: "a@example.com",
    folder: "INBOX",
    uidvalidity: 7,
    uid: 1,
    modseq: "3",
    messageId: "a@example.com",
  });
  expect(second).toMatchObject({ uid: 2, subject: "Grüße" });
  expect((await stat(join(cwd, "inbox.plan.ndjson"))).mode & 0o777).toBe(0o600);
  expect((await run("apply", "inbox.plan.ndjson", "--yes")).exitCode).toBe(0);
  expect(subjectsIn("INBOX")).toEqual(["c"]);
  expect(subjectsIn("Archive")).toHaveLength(2);
  expect((await run("undo", "inbox.plan.ndjson")).exitCode).toBe(0);
  expect(subjectsIn("INBOX")).toHaveLength(3);
});

test("a mail that is not surely the one of the export is named and not in the plan", async () => {
  const exported = [
    mailOf("good"),
    mailOf("no id", null),
    mailOf("gone"),
    mailOf("copied"),
    mailOf("forged", "bank"),
    mailOf("one of two", "two"),
    mailOf("other of two", "two"),
  ];
  const stored = [
    mailOf("good"),
    mailOf("no id", null),
    mailOf("copied"),
    mailOf("copied"),
    mailOf("Your bank", "bank"),
    mailOf("one of two", "two"),
  ];
  const { cwd, run, plan, subjectsIn } = await exportAndServer(exported, stored);
  const { exitCode, stderr } = await plan();
  expect(exitCode).toBe(2);
  const notes = stderr.split("\n").filter((line) => line.startsWith("Note on"));
  expect(notes.map((note) => note.replace("; it is not in the plan", ""))).toEqual([
    expect.stringMatching(/^Note on 1 mail: it has no Message-ID: mail-\w+$/),
    "Note on 1 mail: no mail of INBOX has its Message-ID: gone@example.com",
    "Note on 1 mail: several mails of INBOX have its Message-ID: copied@example.com",
    "Note on 1 mail: its Message-ID is another mail's in INBOX: bank@example.com",
    "Note on 2 mails: its Message-ID repeats in the file: two@example.com, two@example.com#2",
  ]);
  expect((await readFile(join(cwd, "inbox.plan.ndjson"), "utf8")).trim().split("\n")).toHaveLength(
    1,
  );
  expect((await run("apply", "inbox.plan.ndjson", "--yes")).exitCode).toBe(0);
  expect(subjectsIn("Archive")).toEqual(["good"]);
});

test("a mail that no rule takes counts too if it has the Message-ID of one that is taken", async () => {
  const { cwd, run, plan, write } = await exportAndServer([mailOf("old", "x")], [mailOf("x")]);
  await write([mailOf("old", "x"), mailOf("x")]);
  await run("inbox.json");
  await writeFile(join(cwd, "rules.txt"), "new -> flag\n");
  const { exitCode, stderr } = await plan();
  expect(stderr).toContain("Rules take 1 of 2 mails");
  expect(stderr).toContain("its Message-ID repeats in the file");
  expect(exitCode).toBe(2);
  expect(await readFile(join(cwd, "inbox.plan.ndjson"), "utf8")).toBe("");
});

test("the folder is opened read only; a wrong folder, password or URL is one sentence", async () => {
  const { server, cwd, account, run, plan } = await exportAndServer([mailOf("a")], [mailOf("a")]);
  const opened: string[] = [];
  for (const name of ["SELECT", "EXAMINE", "UID STORE", "UID MOVE"]) {
    const handle = server.getCommandHandler(name);
    server.setCommandHandler(name, (...call) => {
      opened.push(name);
      handle(...call);
    });
  }
  await plan();
  expect(opened).toEqual(["EXAMINE"]);
  const words = ["plan", "inbox.json", "--rules", "rules.txt", "--output", "other.ndjson"];
  const problems = {
    inbox: "Write imaps://USER@HOST/FOLDER",
    [`${account}/Nowhere`]: 'has no folder "Nowhere". It has: INBOX, Archive.',
    [account.replace("testuser", "other") + "/INBOX"]: "does not let other in",
  };
  for (const [url, problem] of Object.entries(problems)) {
    const refused = await run(...words, "--mailbox", url);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(problem)]);
  }
  await expect(stat(join(cwd, "other.ndjson"))).rejects.toThrow("ENOENT");
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { mailsOf, recordingTransport, sampleResponse } from "../testing/samples.ts";
import { imapEnv as env, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { readResults, startTriage, triageMachines } from "../testing/start-triage.ts";

const machines = triageMachines();
const mail = (id: string) => `Message-ID: <${id}@example.com>\r\nSubject: mail ${id}\r\n\r\nHello.`;
const received = "03-Nov-2026 09:00:00 +0000";

interface Given {
  readonly transport?: ReturnType<typeof recordingTransport>;
  readonly ids?: readonly string[];
  readonly database?: Pick<Parameters<typeof startTriage>[1], "env" | "openRuns">;
}

async function watching(
  flags: string[] = [],
  { transport = recordingTransport(), ids = ["one", "two"], database }: Given = {},
) {
  const messages = ids.map((id) => ({ raw: mail(id), internaldate: received }));
  const { server, account } = await startHoodiecrow({ messages, uidvalidity: 7 });
  const cwd = await temporaryFolder();
  const stopped = new AbortController();
  const printed = { stdout: "", stderr: "" };
  const ended = startTriage(["watch", `${account}/INBOX`, "inbox.json", ...flags], {
    cwd,
    ...database,
    env: { ...env, ...database?.env },
    transport,
    clock: systemClock,
    signal: stopped.signal,
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: { write: (text) => (printed.stderr += text) },
  });
  const rows = () => printed.stdout.match(/mail \w+/g) ?? [];
  const results = async () => await readResults(cwd);
  return { server, cwd, transport, stopped, printed, ended, rows, results };
}

test("watch prints the table, then a line and a row for each new mail, and asks about nothing twice", async () => {
  const { server, cwd, transport, stopped, printed, ended, rows, results } = await watching();
  await expect.poll(rows).toEqual(["mail one", "mail two"]);
  const firstRun = printed.stderr;
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three"]);
  server.appendMessage("INBOX", [], received, mail("four"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three", "mail four"]);
  const path = join(cwd, "inbox.json");
  expect(printed.stderr.slice(firstRun.length)).toBe(
    `${path} has 3 mails: read 1 mail; 0 left the folder.\n${path} has 4 mails: read 1 mail; 0 left the folder.\n`,
  );
  await expect.poll(results).toHaveLength(4);
  stopped.abort();
  expect((await ended).exitCode).toBe(130);
  expect(printed.stdout.match(/subject/g)).toHaveLength(1);
  expect(transport.requests).toHaveLength(4);
  expect((await mailsOf(path)).map(({ subject }) => subject)).toEqual(rows());
  const kept = await results();
  expect(kept.map(({ subject }) => subject)).toEqual(rows());
  const exported = await startTriage(["export", "inbox.json"], { cwd });
  expect(JSON.parse(exported.stdout)).toEqual(kept);
  const { stdout: page } = await startTriage(["report"], { cwd });
  expect(page).toContain("Triage of 4 mails");
  using journal = new DatabaseSync(join(cwd, "inbox.triage.sqlite"), { readOnly: true });
  const sum = "SELECT sum(facts ->> 'answered') AS answered FROM runs";
  expect(journal.prepare(sum).get()).toEqual({ answered: 4 });
  const again = await startTriage(["inbox.json"], { cwd, transport });
  expect(again.stderr).toContain(": 2 of 4 mails.\n"); // new since watch began
  expect(await results()).toEqual(kept);
  expect(transport.requests).toHaveLength(4);
});

test("the first mails of an empty folder have their rows", async () => {
  const { server, cwd, stopped, printed, ended, rows, results } = await watching([], { ids: [] });
  await expect.poll(() => printed.stdout).toContain("subject");
  for (const names of [["three"], ["three", "four"]]) {
    server.appendMessage("INBOX", [], received, mail(names.at(-1) ?? ""));
    await expect.poll(rows).toEqual(names.map((name) => `mail ${name}`));
  }
  await expect.poll(results).toHaveLength(2);
  expect(await mailsOf(join(cwd, "inbox.json"))).toHaveLength(2);
  stopped.abort();
  await ended;
});

test("a new mail without an answer is asked about again after the next change", async () => {
  const transport = recordingTransport((at) => (at === 2 ? { answers: {} } : sampleResponse()));
  const { server, stopped, printed, ended, rows, results } = await watching([], { transport });
  await expect.poll(rows).toHaveLength(2);
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(() => printed.stderr).toContain("Some mails have no answer;");
  expect(transport.requests).toHaveLength(3);
  const failed = (await results()).find((one) => "error" in one);
  expect(failed).toMatchObject({ subject: "mail three" });
  expect(failed).not.toMatchObject({ error: expect.stringContaining("run again") });
  server.appendMessage("INBOX", [], received, mail("four"));
  await expect.poll(() => transport.requests).toHaveLength(5);
  await expect.poll(results).toHaveLength(4);
  await expect.poll(async () => (await results()).some((one) => "error" in one)).toBe(false);
  stopped.abort();
  await ended;
});

test("the options of a run hold in watch: --only, and --dry-run, which ends", async () => {
  const { server, stopped, printed, ended, rows, results } = await watching([
    "--only",
    "importance > 4.9",
  ]);
  await expect.poll(() => printed.stderr).toContain("The table shows 0 of 2 mails");
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(results).toHaveLength(3);
  stopped.abort();
  await ended;
  expect(rows()).toEqual([]);
  const dry = await watching(["--dry-run"]);
  expect((await dry.ended).exitCode).toBe(0);
  expect([dry.printed.stdout, dry.transport.requests]).toEqual([
    expect.stringContaining("To ask: 2 mails"),
    [],
  ]);
});

test("with --context, in which a mail changes others, and in another format the results have all mails", async () => {
  const { server, cwd, stopped, ended, rows } = await watching(["--context", "--format", "ndjson"]);
  await expect.poll(rows).toEqual(["mail one", "mail two"]);
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three"]);
  server.appendMessage("INBOX", [], received, mail("four"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three", "mail four"]);
  stopped.abort();
  await ended;
  const lines = await readFile(join(cwd, "inbox.triage.ndjson"), "utf8");
  expect(lines.match(/mail \w+/g)).toEqual(rows());
});

test("with a journal in PostgreSQL the newest run has all mails, and those that came while it watched are new", async () => {
  const database = { env: machines.env, openRuns: machines.openRuns };
  const { server, cwd, transport, stopped, ended, rows, results } = await watching([], {
    database,
  });
  await expect.poll(rows).toEqual(["mail one", "mail two"]);
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three"]);
  server.appendMessage("INBOX", [], received, mail("four"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three", "mail four"]);
  stopped.abort();
  await ended;
  const { stdout } = await startTriage(["export"], { cwd, ...database });
  expect(JSON.parse(stdout)).toEqual(await results());
  const news = await startTriage(["export", "--only", "new"], { cwd, ...database });
  expect(JSON.parse(news.stdout)).toEqual((await results()).slice(2));
  expect(await results()).toHaveLength(4);
  expect(transport.requests).toHaveLength(4);
});

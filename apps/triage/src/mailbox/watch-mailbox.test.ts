import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { recordingTransport } from "../testing/samples.ts";
import { imapEnv as env, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { startTriage } from "../testing/start-triage.ts";

const mail = (id: string) => `Message-ID: <${id}@example.com>\r\nSubject: mail ${id}\r\n\r\nHello.`;
const received = "03-Nov-2026 09:00:00 +0000";

async function watching(...flags: string[]) {
  const messages = ["one", "two"].map((id) => ({ raw: mail(id), internaldate: received }));
  const { server, account } = await startHoodiecrow({ messages, uidvalidity: 7 });
  const cwd = await temporaryFolder();
  const transport = recordingTransport();
  const stopped = new AbortController();
  const printed = { stdout: "", stderr: "" };
  const ended = startTriage(["watch", `${account}/INBOX`, "inbox.json", ...flags], {
    cwd,
    env,
    transport,
    clock: systemClock,
    signal: stopped.signal,
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: { write: (text) => (printed.stderr += text) },
  });
  const rows = () => printed.stdout.match(/mail \w+/g) ?? [];
  return { server, cwd, transport, stopped, printed, ended, rows };
}

test("watch prints the table, then a row for each new mail, and asks about nothing twice", async () => {
  const { server, cwd, transport, stopped, printed, ended, rows } = await watching();
  await expect.poll(rows).toEqual(["mail one", "mail two"]);
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three"]);
  server.appendMessage("INBOX", [], received, mail("four"));
  await expect.poll(rows).toEqual(["mail one", "mail two", "mail three", "mail four"]);
  stopped.abort();
  expect((await ended).exitCode).toBe(130);
  expect(printed.stdout.match(/subject/g)).toHaveLength(1);
  expect(transport.requests).toHaveLength(4);
  const results: unknown = JSON.parse(await readFile(join(cwd, "inbox.triage.json"), "utf8"));
  expect(results).toHaveLength(4);
});

test("the options of a run hold in watch: --only, and --dry-run, which ends", async () => {
  const { server, stopped, printed, ended, rows } = await watching("--only", "importance > 4.9");
  await expect.poll(() => printed.stderr).toContain("The table shows 0 of 2 mails");
  server.appendMessage("INBOX", [], received, mail("three"));
  await expect.poll(() => printed.stderr).toContain("The table shows 0 of 3 mails");
  stopped.abort();
  await ended;
  expect(rows()).toEqual([]);
  const dry = await watching("--dry-run");
  expect((await dry.ended).exitCode).toBe(0);
  expect([dry.printed.stdout, dry.transport.requests]).toEqual([
    expect.stringContaining("To ask: 2 mails"),
    [],
  ]);
});

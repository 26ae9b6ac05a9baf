import { join } from "node:path";
import { systemClock } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import { mailsOf, recordingTransport } from "../../src/testing/samples.ts";
import { readResults, startTriage } from "../../src/testing/start-triage.ts";
import { fillMailbox, signIn, stateOf } from "./mailbox-of.ts";
import { runDoveadm } from "./start-dovecot.ts";
import { startProxy } from "../../src/testing/start-proxy.ts";

const server = inject("dovecot");
const env = { TRIAGE_IMAP_PASSWORD: server.password };
let users = 0;

/** A mailbox of mails that is read through a proxy, which counts bytes and keeps commands. */
async function mailboxOf(count: number, without: readonly string[] = []) {
  const user = `reader${(users += 1)}`;
  const subjects = Array.from({ length: count }, (_, at) => `mail ${at}`);
  const mails = subjects.map((subject, at) => ({ subject, messageId: `${at}@example.com` }));
  const client = await fillMailbox(server, user, mails);
  onTestFinished(() => client.logout().catch(() => {}));
  const seen = { bytes: 0, commands: [] as string[], onCommand: (_line: string): void => {} };
  const proxy = await startProxy(server.port, {
    without,
    onReply(text) {
      seen.bytes += text.length;
      return text;
    },
    onCommand(line) {
      seen.commands.push(line.replace(/^\S+ /, ""));
      seen.onCommand(line);
    },
  });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const cwd = await temporaryFolder();
  const url = `imap://${user}@127.0.0.1:${proxy.port}/INBOX`;
  const run = async (...words: string[]) => {
    Object.assign(seen, { bytes: 0, commands: [] });
    return await startTriage(words, { cwd, env });
  };
  const read = async () => await mailsOf(join(cwd, "inbox.json"));
  const doveadm = async (...words: string[]) => await runDoveadm(server, ...words);
  return { user, client, proxy, seen, cwd, url, run, read, doveadm, subjects };
}

const bodies = (commands: readonly string[]) =>
  commands.filter((line) => line.includes("BODY.PEEK[1]"));

test("a folder is read in ranges of 500, and only with EXAMINE and PEEK", async () => {
  const { run, read, seen, url, client, subjects } = await mailboxOf(1100);
  const before = await stateOf(client);
  expect((await run("import", url, "inbox.json")).exitCode).toBe(0);
  expect((await read()).map(({ subject }) => subject)).toEqual(subjects);
  expect(bodies(seen.commands)).toHaveLength(3);
  expect(
    seen.commands.filter((line) => /^(?:UID )?(?:SELECT|STORE|MOVE)|\bBODY\[/.test(line)),
  ).toEqual([]);
  expect(await stateOf(client)).toEqual(before);
});

test("a cut connection keeps the ranges that were read", async () => {
  const { run, read, seen, url, proxy, subjects } = await mailboxOf(1100);
  seen.onCommand = () => {
    if (bodies(seen.commands).length === 2) proxy.cut();
  };
  const cut = await run("import", url, "inbox.json");
  expect([cut.exitCode, cut.stderr]).toEqual([
    1,
    expect.stringMatching(/The connection to .* failed/),
  ]);
  seen.onCommand = () => {};
  const { stderr } = await run("import", url, "inbox.json");
  expect(stderr).toContain("has 1,100 mails: read 600 mails");
  expect((await read()).map(({ subject }) => subject)).toEqual(subjects);
});

test("if nothing is new, 10 kB are read and no body", async () => {
  const { run, seen, url } = await mailboxOf(200);
  await run("import", url, "inbox.json");
  expect((await run("import", url, "inbox.json")).stderr).toContain("read 0 mails; 0 left");
  expect(seen.bytes).toBeLessThan(10_000);
  const searches = seen.commands.filter((line) => /FETCH|SEARCH/.test(line));
  expect(searches).toEqual(["UID SEARCH DELETED"]);
});

test.each([[[]], [["QRESYNC"]], [["QRESYNC", "CONDSTORE"]]])(
  "1,000 mails that vanished leave the file, in 50 kB; without %j too",
  async (without) => {
    const { run, read, seen, url, user, doveadm } = await mailboxOf(1010, without);
    await run("import", url, "inbox.json");
    await doveadm("expunge", "-u", user, "mailbox", "INBOX", "uid", "6:1005");
    expect((await run("import", url, "inbox.json")).stderr).toContain("1,000 left the folder");
    expect(await read()).toHaveLength(10);
    expect(seen.bytes).toBeLessThan(50_000);
    expect(bodies(seen.commands)).toEqual([]);
  },
);

test("after another UIDVALIDITY no mail is asked again", async () => {
  const { run, read, url, user, cwd, doveadm } = await mailboxOf(20);
  await run("import", url, "inbox.json");
  const before = await read();
  const transport = recordingTransport();
  await startTriage(["inbox.json"], { cwd, transport });
  await doveadm("mailbox", "update", "-u", user, "--uid-validity", "12345678", "INBOX");
  await run("import", url, "inbox.json");
  await startTriage(["inbox.json"], { cwd, transport });
  expect(transport.requests).toHaveLength(20);
  const after = await read();
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(new Set(after.map(({ source }) => source?.uidvalidity))).toEqual(new Set([12_345_678]));
});

test("an attachment is not read", async () => {
  const { run, read, seen, url, client } = await mailboxOf(0);
  const pdf = Buffer.alloc(300_000, "x").toString("base64");
  const part = (type: string, text: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`;
  const head =
    'Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n';
  const body =
    part("text/plain", "Hello.".repeat(2000)) + part('application/pdf; name="a.pdf"', pdf);
  await client.append("INBOX", `${head}${body}--b--\r\n`);
  await run("import", url, "inbox.json");
  expect(await read()).toMatchObject([
    { attachments: [{ name: "a.pdf" }], snippet: expect.stringMatching(/^Hello/) },
  ]);
  expect(seen.bytes).toBeLessThan(10_000);
});

test.each([[[]], [["QRESYNC"]]])(
  "watch prints a row for each new mail and goes on after a cut connection; without %j too",
  async (without) => {
    const { user, url, cwd, proxy, read, doveadm } = await mailboxOf(2, without);
    const stopped = new AbortController();
    const printed = { stdout: "", stderr: "" };
    const watching = startTriage(["watch", url, "inbox.json"], {
      cwd,
      env,
      signal: stopped.signal,
      clock: systemClock,
      stdout: { write: (text) => (printed.stdout += text) },
      stderr: { write: (text) => (printed.stderr += text) },
    });
    const rows = () => printed.stdout.match(/mail \w+/g) ?? [];
    await expect.poll(rows).toHaveLength(2);
    const other = await signIn(server, user);
    const append = async (subject: string) =>
      await other.append("INBOX", `From: a@b.example\r\nSubject: mail ${subject}\r\n\r\nHi\r\n`);
    await append("three");
    await expect.poll(rows).toContain("mail three");
    proxy.cut();
    await append("four");
    await expect.poll(rows).toContain("mail four");
    await doveadm("expunge", "-u", user, "mailbox", "INBOX", "uid", "1");
    await expect.poll(() => printed.stderr).toContain("1 left the folder");
    await expect.poll(async () => await readResults(cwd)).toHaveLength(3);
    await doveadm("move", "-u", user, "Archive", "mailbox", "INBOX", "uid", "2:3");
    await expect.poll(async () => await readResults(cwd)).toHaveLength(1);
    await doveadm("move", "-u", user, "INBOX", "mailbox", "Archive", "all"); // back: no new mail
    await expect.poll(async () => await readResults(cwd)).toHaveLength(3);
    await append("five");
    await expect.poll(rows).toContain("mail five");
    stopped.abort();
    expect((await watching).exitCode).toBe(130);
    expect(rows()).toHaveLength(5);
    expect((await read()).map(({ subject }) => subject)).toEqual(
      ["four", "1", "three", "five"].map((name) => `mail ${name}`),
    );
    await other.logout();
  },
);

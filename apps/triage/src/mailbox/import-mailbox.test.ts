import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import type { HoodiecrowMail } from "hoodiecrow-imap";
import { expect, test } from "vitest";
import { importOf, mbox } from "../testing/import-of.ts";
import { mailsOf } from "../testing/samples.ts";
import { imapEnv as env, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { startTriage } from "../testing/start-triage.ts";

const OUT = "inbox.json";

function mail(id: string, more: Partial<HoodiecrowMail> = {}): HoodiecrowMail {
  const raw = `Message-ID: <${id}@example.com>\r\nSubject: ${id}\r\nDate: Mon, 02 Nov 2026 23:30:00 -0800\r\n\r\nHello ${id}.`;
  return { raw, internaldate: "03-Nov-2026 09:00:00 +0000", ...more };
}

async function start(messages: HoodiecrowMail[], without: readonly string[] = []) {
  const { server, account } = await startHoodiecrow({ messages, uidvalidity: 7 }, { without });
  const cwd = await temporaryFolder();
  const run = async (...flags: string[]) =>
    await startTriage(["import", `${account}/INBOX`, OUT, ...flags], { cwd, env });
  const read = async () => await mailsOf(join(cwd, OUT));
  const inbox = server.getMailbox("INBOX");
  if (inbox === undefined) throw new Error("The server has no INBOX.");
  return { server, account, cwd, run, read, inbox };
}

test("the mails of a folder become records with their place and time, and none becomes seen", async () => {
  const { run, read, account, inbox } = await start([mail("a"), mail("b")]);
  const { exitCode, stderr } = await run();
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("has 2 mails: read 2 mails")]);
  expect(await read()).toEqual(
    ["a", "b"].map((id, at) => ({
      id: expect.stringMatching(/^mail-[\da-f]{24}$/),
      date: "2026-11-02",
      from: "",
      subject: id,
      snippet: `Hello ${id}.`,
      source: { account, folder: "INBOX", uidvalidity: 7, uid: at + 1 },
      received: "2026-11-03T09:00:00.000Z",
      headers: { messageId: `${id}@example.com` },
    })),
  );
  expect(inbox.messages.flatMap(({ flags = [] }) => flags)).toEqual([]);
});

test.each([[[]], [["CONDSTORE", "ENABLE"]]])(
  "the next import reads new mails, and removes those that are gone; without %j too",
  async (without) => {
    const { run, read, inbox, server } = await start([mail("a"), mail("b"), mail("c")], without);
    await run();
    const before = await read();
    inbox.messages.splice(1, 1);
    server.appendMessage("INBOX", [], "03-Nov-2026 10:00:00 +0000", mail("d").raw);
    const { stderr } = await run();
    expect(stderr).toContain("has 3 mails: read 1 mail; 1 left the folder");
    const after = await read();
    expect(after.map(({ subject }) => subject)).toEqual(["a", "c", "d"]);
    expect(after.slice(0, 2)).toEqual([before[0], before[2]]);
    expect((await run()).stderr).toContain("has 3 mails: read 0 mails; 0 left the folder");
  },
);

test("with another UIDVALIDITY mails keep their ids, and their places are new", async () => {
  const { run, read, inbox } = await start([mail("a"), mail("b"), mail("a")]);
  await run();
  const before = await read();
  inbox.uidvalidity = 8;
  for (const [at, message] of inbox.messages.entries()) message.uid = 10 + at;
  inbox.uidnext = 20;
  await run();
  const after = await read();
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after.map(({ source }) => [source?.uidvalidity, source?.uid])).toEqual([
    [8, 10],
    [8, 11],
    [8, 12],
  ]);
});

test("a mail that left the folder and is back has its id", async () => {
  const { run, read, inbox } = await start([mail("a"), mail("b"), mail("a")]);
  await run();
  const before = await read();
  for (const [at, message] of inbox.messages.entries()) message.uid = 10 + at;
  inbox.uidnext = 20;
  expect((await run()).stderr).toContain("has 3 mails: read 3 mails; 0 left the folder");
  expect((await read()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

const folderData =
  "From: Mail System Internal Data <MAILER-DAEMON@b.example>\r\nSubject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA\r\n\r\nText";

test("mails without a Message-ID or with that of another mail have their own ids", async () => {
  const bare = { raw: "Subject: s\r\n\r\nHi", internaldate: "03-Nov-2026 09:00:00 +0000" };
  const { run, read } = await start([
    bare,
    { ...bare },
    mail("a"),
    mail("a"),
    { ...bare, raw: "Hi" },
    { ...bare, raw: folderData },
  ]);
  // The last two have nothing to ask about.
  expect(await run()).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(
      "has 4 mails: read 6 mails; 0 left the folder; left out 2 with",
    ),
  });
  const ids = (await read()).map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  expect(ids[1]).toBe(`${ids[0]}#2`);
});

test("--since reads the mails received from that day on, and another day reads again", async () => {
  const early = { internaldate: "01-Nov-2026 09:00:00 +0000" };
  const { run, read } = await start([mail("a", early), mail("b")]);
  const subjects = async () => (await read()).map(({ subject }) => subject);
  await run("--since", "2026-11-02");
  expect(await subjects()).toEqual(["b"]);
  await run();
  expect(await subjects()).toEqual(["a", "b"]);
  await run("--since", "2026-11-02");
  expect(await subjects()).toEqual(["b"]);
});

test("a record is that of an import of the same mail from a file", async () => {
  const part = (headers: string, text: string) => `--b\n${headers}\n\n${text}\n`;
  const text = [
    "Message-ID: <m@example.com>\nFrom: =?utf-8?q?Ad=C3=A4?= <ada@example.com>\nDate: 2 Nov 2026 09:00:00 +0000",
    'Subject: parts\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n',
    part(
      'Content-Type: multipart/alternative; boundary="c"',
      [
        "\n--c\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe",
        "\n--c\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n",
        `${Buffer.from("<p>Grüße an <b>alle</b></p>").toString("base64")}\n--c--`,
      ].join(""),
    ),
    part(
      'Content-Type: application/pdf; name="a.pdf"\nContent-Disposition: attachment; filename="a b.pdf"',
      "%PDF",
    ),
    "--b--\n",
  ].join("\n");
  const raw = text.replaceAll("\n", "\r\n");
  const { run, read } = await start([mail("m", { raw })]);
  await run();
  const [{ source: _, id: __, received: ___, ...record } = {}] = await read();
  const { mails } = await importOf({ "a.mbox": mbox(text) });
  const [{ source, id, received, ...imported } = {}] = mails ?? [];
  expect(record).toEqual(imported);
  expect(record).toMatchObject({ snippet: expect.stringContaining("Grüße") });
  expect([source, id, received].every(Boolean)).toBe(true);
});

const styles = Array.from({ length: 400 }, (_, at) => `.c${at} { margin: ${at}px }\n`).join("");
const page = `<html><head><style>${styles}</style></head><body><p>Your parcel is held.</p></body></html>`;
const alternative = `--b\nContent-Type: text/plain\n\nShort.\n--b\nContent-Type: text/html\n\n${page}\n--b--`;
const related =
  "--b\nContent-Type: text/html\n\n<b>Words</b>\n--b\nContent-Type: image/png\nContent-ID: <a>\n\nx\n--b--";

test.each([
  ["text/html; charset=utf-8", page],
  ["text/html; charset=utf-8\nContent-Transfer-Encoding: base64", btoa(page)],
  ["text/html", `<!DOCTYPE html>\n${"<p>Your parcel is held.</p>".repeat(400)}`],
  ['multipart/alternative; boundary="b"', alternative],
  ['multipart/related; boundary="b"', related],
  ['multipart/mixed; boundary="never"', "The words."],
  ["text", "The words."],
])("the text over IMAP is that of a file: %s", async (type, body) => {
  const text = `Message-ID: <m@example.com>\nFrom: ada@example.com\nMIME-Version: 1.0\nContent-Type: ${type}\n\n${body}\n`;
  const { run, read } = await start([mail("m", { raw: text.replaceAll("\n", "\r\n") })]);
  await run();
  const [record] = await read();
  const [file] = (await importOf({ "a.mbox": mbox(text) })).mails ?? [];
  expect([record?.snippet, record?.attachments]).toEqual([file?.snippet, file?.attachments]);
  expect(record?.snippet).toMatch(/parcel|words/i);
});

test("all files are for their owner alone, also those that others could read before", async () => {
  const { cwd, run } = await start([mail("a")]);
  const files = [OUT, "inbox.mailbox.sqlite"].map((name) => join(cwd, name));
  const modes = async () =>
    await Promise.all(files.map(async (path) => (await stat(path)).mode & 0o777));
  await run();
  expect(await modes()).toEqual([0o600, 0o600]);
  for (const path of files) await chmod(path, 0o644);
  await run();
  expect(await modes()).toEqual([0o600, 0o600]);
});

test("a lost file of mails is written again without a body from the server", async () => {
  const { cwd, run, read } = await start([mail("a")]);
  await run();
  await rm(join(cwd, OUT));
  expect((await run()).stderr).toContain("read 0 mails");
  expect(await read()).toHaveLength(1);
});

test.each([
  [
    "a folder that is not there",
    ["import", "/Nope", "nope.json"],
    'has no folder "Nope". It has: INBOX, Archive.',
  ],
  ["another folder", ["import", "/Archive", OUT], "name another file for Archive"],
  ["--skipped", ["import", "/INBOX", OUT, "--skipped", "a"], "need an export"],
  ["a broken table", ["import", "/INBOX", "broken.json"], "is damaged or is no table"],
])("%s is refused in a sentence", async (_, [word = "", folder = "", ...rest], problem) => {
  const { account } = await startHoodiecrow(
    { messages: [mail("a")] },
    { folders: { Archive: {} } },
  );
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "broken.mailbox.sqlite"), "no table".repeat(200));
  await startTriage(["import", `${account}/INBOX`, OUT], { cwd, env });
  const before = await readFile(join(cwd, OUT), "utf8");
  const { exitCode, stderr } = await startTriage([word, account + folder, ...rest], { cwd, env });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)]);
  expect(await readFile(join(cwd, OUT), "utf8")).toBe(before);
});

test.each([
  ["no password", {}, "INBOX"],
  ["a wrong password", { TRIAGE_IMAP_PASSWORD: "wrong" }, "INBOX"],
  ["an unknown folder", env, "Nope"],
])("a first import with %s leaves no file behind", async (_, wrongEnv, folder) => {
  const { account } = await startHoodiecrow({ messages: [mail("a")] });
  const cwd = await temporaryFolder();
  const words = ["import", `${account}/${folder}`, OUT];
  expect((await startTriage(words, { cwd, env: wrongEnv })).exitCode).toBe(1);
  expect(await readdir(cwd)).toEqual([]);
});

test("--since of an export and a password in a URL are refused", async () => {
  const { exitCode, stderr } = await importOf(
    { "a.mbox": mbox("Subject: s\n\nHi") },
    "a.mbox",
    "--since",
    "2026-11-02",
  );
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--since needs a mailbox")]);
  const wrong = await startTriage(["imaps://ada:hunter2@b.example/INBOX"], { env });
  expect([wrong.exitCode, wrong.stderr.includes("hunter2")]).toEqual([1, false]);
});

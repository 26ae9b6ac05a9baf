import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { parseMails } from "../input/parse-mails.ts";
import { startTriage } from "../testing/start-triage.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const date = "Date: Mon, 02 Nov 2026 09:00:00 +0000";

function mbox(...messages: string[]): string {
  return messages
    .map((message) => `From ada@example.com Mon Nov  2 09:00:00 2026\n${message}\n\n`)
    .join("");
}

async function importOf(files: Record<string, string | Uint8Array>, source = "") {
  const cwd = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(cwd, name, ".."), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const words = ["import", source || (Object.keys(files)[0] ?? ""), "inbox.json"];
  const outcome = await startTriage(words, { cwd });
  if (outcome.exitCode === 1) return { ...outcome, cwd, mails: null };
  const json: unknown = JSON.parse(await readFile(join(cwd, "inbox.json"), "utf8"));
  return { ...outcome, cwd, mails: parseMails(json) };
}

async function mailOf(message: string) {
  const { mails } = await importOf({ "a.mbox": mbox(message) });
  return mails?.[0];
}

test.each([
  [
    "folded headers",
    `${date}\nSubject: one\n two\n\tthree\nFrom: a@b.example\n\nHi`,
    { subject: "one two three" },
  ],
  [
    "RFC 2047 words, split inside a character's neighbours",
    `${date}\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?UTF-8?B?IGF1cw==?= =?iso-8859-1?q?_K=F6ln?=\nFrom: =?utf-8?B?5pel5pys?= <n@b.example>\n\nHi`,
    { subject: "Grüße aus Köln", from: "日本 <n@b.example>" },
  ],
  ["no From", `${date}\nSubject: s\n\nHi`, { from: "", snippet: "Hi" }],
  ["no Subject", `${date}\nFrom: a@b.example\n\nHi`, { subject: "", from: "a@b.example" }],
  ["no Date", `From: a@b.example\nSubject: s\n\nHi`, { date: "2026-11-02" }],
  ["a date in another zone", "Date: Mon, 02 Nov 2026 23:30:00 -0500\n\nHi", { date: "2026-11-03" }],
  [
    "HTML only",
    `${date}\nContent-Type: text/html; charset=utf-8\n\n<style>p{}</style><p>Tom &amp; Ann&nbsp;meet <a href="http://x.example">here</a></p><script>x</script>`,
    { snippet: "Tom & Ann meet here" },
  ],
  ["entities in plain text", `${date}\n\nTom &amp; Ann&#39;s`, { snippet: "Tom & Ann's" }],
  [">From lines", `${date}\n\n>From me\n>>From you`, { snippet: "From me >From you" }],
  [
    "a From line in the text",
    `${date}\n\nHello.\nFrom bob@b.example Mon Nov  2 10:00:00 2026\n\nFrom there too.`,
    { snippet: "Hello. From bob@b.example Mon Nov 2 10:00:00 2026 From there too." },
  ],
  [
    "Windows line ends",
    `${date}\r\nSubject: s\r\n\r\nHi\r\nyou`,
    { subject: "s", snippet: "Hi you" },
  ],
  [
    "nested multipart with an attachment and a mail inside",
    [
      date,
      "Content-Type: multipart/mixed; boundary=a",
      "",
      "--a",
      "Content-Type: multipart/alternative; boundary=b",
      "",
      "--b",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      "Caf=C3=A9 at=",
      " noon",
      "--b",
      "Content-Type: text/html",
      "",
      "<b>other</b>",
      "--b--",
      "--a",
      'Content-Type: text/plain; name="notes.txt"',
      "Content-Disposition: attachment",
      "",
      "secret notes",
      "--a",
      "Content-Type: message/rfc822",
      "",
      "Subject: inner",
      "",
      "inner text",
      "--a--",
    ].join("\n"),
    { snippet: "Café at noon" },
  ],
  ["terminal escapes", `${date}\nSubject: a\u001b[2Jb\u202e\n\nHi`, { subject: "ab" }],
])("reads a mail with %s", async (_, message, expected) => {
  expect(await mailOf(message)).toMatchObject(expected);
});

test("reads old charsets", async () => {
  const head = `${date}\nContent-Type: text/plain; charset=windows-1251\nContent-Transfer-Encoding: 8bit\n\n`;
  const message = Buffer.concat([
    Buffer.from(head),
    Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  ]);
  const folder = await importOf({ "mails/a.eml": message }, "mails");
  expect(folder.mails).toMatchObject([{ snippet: "Привет" }]);
});

test("drops what carries only the sent label, in Takeout's header, and keeps what was also received", async () => {
  const labelled = (labels: string) =>
    `${date}\nX-Gmail-Labels: ${labels}\nSubject: ${labels}\n\nHi`;
  const { mails, stderr } = await importOf({
    "All mail.mbox": mbox(
      labelled("Sent,Opened"),
      labelled("Inbox,Sent"),
      labelled("=?UTF-8?Q?Gesendet?="),
      labelled("Archived"),
    ),
  });
  expect(mails?.map(({ subject }) => subject)).toEqual(["Inbox,Sent", "Archived"]);
  expect(stderr).toContain("left out 2 with only the sent label and 0 broken");
});

test.each([
  ["Card 4111 1111 1111 1111 was charged.", "Card was charged."],
  ["Card **** **** **** 1234 was charged.", "Card was charged."],
  ["Your card ending in 1234 was charged.", "Your card ending in was charged."],
  ["Order #123-4567890-1234567 has shipped.", "Order # has shipped."],
  ["Order number: AB12345 has shipped.", "Order number: has shipped."],
  [
    "In 2026 we order 12 eggs, call +49 30 1234567.",
    "In 2026 we order 12 eggs, call +49 30 1234567.",
  ],
  ["Order confirmation for you", "Order confirmation for you"],
])("cuts fragments of numbers: %j", async (text, snippet) => {
  expect(await mailOf(`${date}\n\n${text}`)).toMatchObject({ snippet });
});

test("names broken mails and goes on", async () => {
  const { mails, stderr, exitCode } = await importOf(
    {
      "mails/b.eml": `${date}\nSubject: fine\n\nHi`,
      "mails/a\u001b[2J.eml": "",
      "mails/deep/c.eml": "Subject: no date\n\nsecret words",
      "mails/notes.txt": "no mail",
    },
    "mails",
  );
  expect(mails).toMatchObject([{ subject: "fine" }]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    "Broken: a.eml: it has no header\nBroken: deep/c.eml: it has no usable date\n",
  );
  expect(stderr).not.toContain("secret");
});

test("a repeated Message-ID stays an id of its own", async () => {
  const message = `${date}\nMessage-ID: <x@y>\n\nHi`;
  const { mails } = await importOf({ "a.mbox": mbox(message, message, message) });
  expect(mails?.map(({ id }) => id)).toEqual(["x@y", "x@y#2", "x@y#3"]);
});

test("a mail without Message-ID keeps its id over imports", async () => {
  const file = { "a.mbox": mbox(`${date}\nSubject: one\n\nHi`, `${date}\nSubject: two\n\nHi`) };
  const [first, second] = [await importOf(file), await importOf(file)];
  expect(first.mails).toEqual(second.mails);
});

test("reads past attachments that are larger than what is kept of a mail, on short and endless lines", async () => {
  const large = (line: string) =>
    `${date}\nSubject: large\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\nHi\n--q\nContent-Disposition: attachment\n\n${line.repeat(100_000)}\n--q--`;
  const small = `${date}\nSubject: small\n\nHi`;
  const line = "A".repeat(76);
  const { mails } = await importOf({
    "a.mbox": mbox(large(`${line}\n`), small, large(line), small),
  });
  expect(mails).toMatchObject(
    ["large", "small", "large", "small"].map((subject) => ({ subject, snippet: "Hi" })),
  );
});

test("reads gzip, also in several members", async () => {
  const one = gzipSync(mbox(`${date}\nSubject: one\n\nHi`));
  const two = gzipSync(mbox(`${date}\nSubject: two\n\nHi`));
  const { mails } = await importOf({ "a.mbox.gz": Buffer.concat([one, two]) });
  expect(mails).toMatchObject([{ subject: "one" }, { subject: "two" }]);
});

const gmail = {
  id: "18c",
  labelIds: ["INBOX", "UNREAD"],
  snippet: "Tom &amp; Ann&#39;s card ending in 1234",
  internalDate: "1793610000000",
  payload: {
    headers: [
      { name: "FROM", value: "Ada <a@b.example>" },
      { name: "Subject", value: "=?utf-8?Q?H=C3=BC?=" },
    ],
  },
};
const sentOnly = { ...gmail, id: "18d", labelIds: ["SENT"] };

test.each([
  ["an array", JSON.stringify([gmail, sentOnly], null, 1)],
  ["an object of messages", JSON.stringify({ messages: [gmail, sentOnly] })],
  [
    "an indented object of messages",
    JSON.stringify({ next: 1, messages: [gmail, sentOnly] }, null, 2),
  ],
  ["one a line", `${JSON.stringify(gmail)}\n${JSON.stringify(sentOnly)}\n`],
])("reads a Gmail API dump: %s", async (_, dump) => {
  const { mails, stderr } = await importOf({ "dump.json": dump });
  expect(mails).toEqual([
    {
      id: "18c",
      date: "2026-11-02",
      from: "Ada <a@b.example>",
      subject: "Hü",
      snippet: "Tom & Ann's card ending in",
    },
  ]);
  expect(stderr).toContain("left out 1 with only the sent label");
});

test("reads raw Gmail messages, and names what is none", async () => {
  const raw = Buffer.from(`${date}\nSubject: raw\n\nHi`).toString("base64url");
  const { mails, stderr } = await importOf({
    "dump.json": JSON.stringify([{ id: "1", raw }, { no: 1 }]),
  });
  expect(mails).toMatchObject([{ id: "1", subject: "raw", snippet: "Hi", date: "2026-11-02" }]);
  expect(stderr).toContain("Broken: message 2: it is not a message of the Gmail API");
});

test.each([
  ["a cut archive", "a.gz", gzipSync(mbox(`${date}\n\n${"Hi ".repeat(9999)}`)).subarray(0, 60)],
  ["broken JSON", "a.json", '[{"id":"1","snippet":"secret"},{"id":'],
  ["something else", "a.pdf", "%PDF-1.7"],
])("writes nothing from %s", async (_, name, content) => {
  const { exitCode, stderr, cwd } = await importOf({ [name]: content });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/nothing was written|is no mailbox this command knows/);
  expect(stderr).not.toContain("secret");
  expect(await readdir(cwd)).toEqual([name]);
});

test("never writes over its source", async () => {
  const { exitCode, stderr } = await importOf({ "inbox.json": JSON.stringify([gmail]) });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("is the input file itself");
});

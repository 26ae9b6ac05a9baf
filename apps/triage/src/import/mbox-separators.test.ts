import { expect, test } from "vitest";
import { isMboxText, mboxMails } from "./mbox.ts";

const MESSAGE_BYTES = 1024 * 1024;
const dated = "From ada@example.com Mon Nov  2 09:00:00 2026";
const modifiedAt = new Date("2026-01-01");

/** Reads an mbox that comes in pieces of some bytes. */
async function mailsOf(content: string, pieceLength = 65_536) {
  const bytes = Buffer.from(content, "latin1");
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceLength) {
      yield bytes.subarray(at, at + pieceLength);
    }
  }
  const file = {
    name: "a.mbox",
    prefix: "a.mbox: ",
    diskPath: null,
    modifiedAt,
    contentChunks: pieces(),
  };
  const mails = [];
  for await (const found of mboxMails(file, file.contentChunks, {
    at: 0,
    most: MESSAGE_BYTES,
  })) {
    if ("reason" in found) continue;
    const { subject, text } = await found.read();
    const { read: _read, mailBytes: _bytes, ...others } = found;
    mails.push({ ...others, subject, text });
  }
  return mails;
}

async function subjectsOf(content: string): Promise<string[]> {
  return (await mailsOf(content)).map(({ subject }) => subject);
}

const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

test.each([
  ...days.map((day) => `From ada ${day} Nov  2 09:00:00 2026`),
  "From Mon Nov  2 09:00:00 2026",
  "From Ada and Bo (sales) Mon Nov 12 9:00:00 1999",
  "From ada Mon Nov 2 09:00 2026",
  "From ada Mon, 12 Nov 2026 09:00:00 +0100",
  "From ada Mon, 2 Nov 2026  09:00 GMT",
  "From ada Mon Nov  2, 2026 09:00:00",
  "From ada Mon  Nov  2 09:00:00 CEST 2026",
  "From ada Mon Nov  2 09:00:00 -0500 2026",
  "From ada Mon Nov  2 09:00:00 2026 -0500",
  "From ada Mon Nov  2 09:00:00 2026 Z",
  "From ada Mon Nov  2 09:00:00 2026 remote from host.example",
  "From ada Mon Nov  2 09:00:00 2026 \r",
  "From \nSubject: s",
  "From -\nSubject: s",
  "From - \r\nSubject: s",
  "From ada@example.com\nX-Any: s",
  "From ada@example.com \nsubject:",
])("%j begins an mbox", (text) => {
  expect(isMboxText(text)).toBe(true);
});

test.each([
  "",
  "Subject: s",
  "Mon Nov  2 09:00:00 2026",
  ` ${dated}`,
  `>${dated}`,
  `Subject: s\n${dated}`,
  dated.replace("From", "from"),
  `${dated} and more`,
  "From ada Mod Nov  2 09:00:00 2026",
  "From ada MonNov  2 09:00:00 2026",
  "From ada Mon nov  2 09:00:00 2026",
  "From ada Mon November 2 09:00:00 2026",
  "From ada Mon Nov   2 09:00:00 2026",
  "From ada Mon Nov 123 09:00:00 2026",
  "From ada Mon Nov x 09:00:00 2026",
  "From ada Mon, 123 Nov 09:00:00 2026",
  "From ada Mon, 2 nov 09:00:00 2026",
  "From ada Mon Nov  2 nine 2026",
  "From ada Mon Nov  2 109:00:00 2026",
  "From ada Mon Nov  2 09:0:00 2026",
  "From ada Mon Nov  2 09:00:0 2026",
  "From ada Mon Nov  2 09:00:00 2126",
  "From ada Mon Nov  2 09:00:00 20xx",
  "From ada Mon Nov  2 09:00:00 ABCDEF 2026",
  "From ada Mon Nov  2 09:00:00 +010 2026",
  "From ada Mon Nov  2 09:00:00 cest 2026",
  "From ada Mon Nov  2 09:00:00 2026 +010",
  "From ada Mon Nov  2 09:00:00 2026 cest",
  "From ada Mon Nov  2 09:00:00 2026 remote from ",
  "From ada Mon Nov  2 09:00:00 2026 remote from a b",
  `From ${"a".repeat(301)} Mon Nov  2 09:00:00 2026`,
  "From ada@example.com",
  "From ada@example.com\nHello there",
  "From ada@example.com\n\nSubject: s",
  "From ada@example.com\nMy subject: s",
  "From now on\nSubject: s",
  `From ${"a".repeat(301)}\nSubject: s`,
  `From ada\n${"a".repeat(101)}: s`,
])("%j begins no mbox", (text) => {
  expect(isMboxText(text)).toBe(false);
});

test.each([1, 2, 7, 50, 1000])("in pieces of %i bytes come the same mails", async (length) => {
  const one = `${dated}\nSubject: one\n\n>From me\n>>From you\n> From all\nnot >From\n\n`;
  const content = `${one}From bo Tue, 3 Nov 2026 10:00 +0100\r\nSubject: two\r\n\r\nHi`;
  expect(await mailsOf(content, length)).toEqual([
    {
      name: "a.mbox: message 1",
      source: { file: "a.mbox", offset: 0 },
      arrived: "2026-11-02",
      deliveredAt: "2026-11-02T09:00:00.000Z",
      subject: "one",
      text: "From me\n>From you\n> From all\nnot >From",
    },
    {
      name: "a.mbox: message 2",
      source: { file: "a.mbox", offset: one.length },
      arrived: "2026-11-03",
      deliveredAt: "2026-11-03T09:00:00.000Z",
      subject: "two",
      text: "Hi",
    },
  ]);
});

test("a mail whose separator has no date came when its file was written", async () => {
  const [mail] = await mailsOf("From ada\nSubject: s\n\nHi");
  expect(mail).toMatchObject({ arrived: "2026-01-01" });
});

test("a separator that nothing follows is a line of the mail before", async () => {
  const [mail, ...others] = await mailsOf(`${dated}\nSubject: s\n\nHi\n\n${dated}`);
  expect(others).toEqual([]);
  expect(mail?.text).toBe(`Hi\n\n${dated}`);
});

test("what stands before the first separator is no mail, and an empty file has none", async () => {
  expect(await subjectsOf(`Subject: none\n\n${dated}\nSubject: s\n\nHi`)).toEqual(["s"]);
  expect(await subjectsOf("")).toEqual([]);
});

test.each(
  "X-Any Received Date From To Cc Bcc Subject Sender Status Importance Precedence Priority subject".split(
    " ",
  ),
)("a dated line above the header %s separates, without an empty line too", async (name) => {
  const content = `${dated}\nSubject: s\n\nHi\n${dated}\n${name}: a\n\nHi`;
  expect(await mailsOf(content)).toHaveLength(2);
});

test.each([
  ["\n", "Note: bring it", 2],
  ["\r\n", "Note: bring it", 2],
  ["", "Note: bring it", 1],
  ["", "My subject: it", 1],
  ["", "-Any: it", 1],
  [" \n", "Note: bring it", 1],
  ["\n", "bring it: now, or (not)", 1],
  ["\n", "", 1],
])("after %j a dated line above %j makes %i mails", async (before, below, length) => {
  const content = `${dated}\nSubject: s\n\nHi\n${before}${dated}\n${below}\n\nHi`;
  expect(await mailsOf(content)).toHaveLength(length);
});

test.each([
  ["From ada", "\nFrom bo\nSubject: two\nDate: x", 2],
  ["From ada", "From bo\nSubject: two", 1],
  ["From ada", "\nFrom bo\nNote: two", 1],
  ["From ada", "\nFrom now on\nSubject: two", 1],
  ["From ada", `${dated}\nSubject: two`, 2],
  [dated, "\nFrom bo\nSubject: two", 1],
])("in a file that begins with %j, %j makes %i mails", async (first, then, length) => {
  expect(await mailsOf(`${first}\nSubject: one\n\nHi\n${then}\n\nHi`)).toHaveLength(length);
});

test("two separators in a row are one mail's text and the next's separator", async () => {
  const content = `${dated}\nSubject: one\n\nHi\n\n${dated}\n${dated}\nSubject: two\n\nHi`;
  const mails = await mailsOf(content);
  expect(mails.map(({ subject, text }) => ({ subject, text }))).toEqual([
    { subject: "one", text: `Hi\n\n${dated}` },
    { subject: "two", text: "Hi" },
  ]);
});

test("only the start of a large mail is kept, and the next one is whole", async () => {
  const part = `--b\n\n${`${"x".repeat(79)}\n`.repeat(700)}`;
  const type = "Content-Type: multipart/mixed; boundary=b";
  const large = `${dated}\nSubject: large\n${type}\n\n${part.repeat(MESSAGE_BYTES / 50_000)}\n`;
  const mails = await mailsOf(`${large}${dated}\nSubject: small\n\nHi`);
  expect(mails.map(({ subject }) => subject)).toEqual(["large", "small"]);
  expect(mails[0]?.text.length).toBeGreaterThan(MESSAGE_BYTES * 0.8);
  expect(mails[0]?.text.length).toBeLessThan(MESSAGE_BYTES + 100);
});

test("in an endless line nothing separates", async () => {
  const row = "x".repeat(64 * 1024);
  const content = `${dated}\nSubject: one\n\n${row}${dated}\nSubject: two\n\nHi\n\n${dated}\nSubject: three\n\nHi`;
  for (const length of [1024, 65_536, 1_000_000]) {
    const subjects = (await mailsOf(content, length)).map(({ subject }) => subject);
    expect(subjects).toEqual(["one", "three"]);
  }
});

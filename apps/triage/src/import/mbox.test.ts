import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";

const mail = (subject: string) => `${dateHeader}\nSubject: ${subject}\nFrom: a@b.example\n\nHi\n`;
const subjects = Array.from({ length: 26 }, (_, index) => `s${index}`);
const separated = (separator: string, end = "\n") =>
  subjects.map((subject) => `${separator}\n${mail(subject)}${end}`).join("");
const dated = "From ada@example.com Mon Nov  2 09:00:00 2026";

test.each([
  ["with blank lines before its separators", separated(dated)],
  ["without blank lines before its separators", separated(dated, "")],
  ["of Windows", separated(dated).replaceAll("\n", "\r\n")],
  ["with spaces in the sender", separated("From Ada and Bo (sales team) Mon Nov  2 09:00:00 2026")],
  ["of Takeout", separated("From 1234567@xxx Mon Nov 02 09:00:00 +0000 2026")],
  ["with a mail's date", separated("From ada@example.com Mon, 2 Nov 2026 09:00:00 +0100")],
  ["with a zone", separated("From ada Mon Nov  2 09:00 CEST 2026 remote from host")],
  ["of Thunderbird", separated("From - Mon Nov 02 09:00:00 2026", "\r\n")],
  ["with bare separators", separated("From ")],
  ["with senders alone", separated("From ada@example.com")],
  ["with a byte order mark", `\uFEFF${separated(dated)}`],
  ["with blank first lines", `\r\n\n${separated(dated)}`],
  ["with blanks before the colons", separated(dated, "").replaceAll(/^(\w+):/gm, "$1 \t:")],
])("an mbox %s comes whole", async (_, content) => {
  const { mails, exitCode, stderr } = await importOf({ export: content });
  expect(mails?.map(({ subject }) => subject)).toEqual(subjects);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("Wrote 26 records");
});

test.each([
  [
    "after a blank line",
    "Hello.\n\nFrom now on we meet at 9:00 on Mon Nov 2 2026.\nNote: bring it",
  ],
  ["with a date and no header below", `Hello.\n\n${dated}\n\nHi`],
  ["with a date, a word with a colon below and no blank line", `Hello.\n${dated}\nNote: bring it`],
  [
    "without a date, as in no other place of the file",
    "Hello.\n\nFrom ada@example.com\nSubject: x",
  ],
])("a line of a mail that looks like a separator, %s, splits no mail", async (_, text) => {
  const content = mbox(`${dateHeader}\nSubject: one\n\n${text}`, mail("two"));
  const { mails } = await importOf({ "a.mbox": content });
  expect(mails?.map(({ subject }) => subject)).toEqual(["one", "two"]);
});

test("an endless line that is read in pieces splits no mail where a piece begins", async () => {
  const head = `${dateHeader}\nSubject: one\n\n`;
  // The file is read in pieces of 64 KB: the second ends just before what looks like a separator.
  const row = "x".repeat(2 * 64 * 1024 - `${dated}\n${head}`.length);
  const content = mbox(`${head}${row}${dated}\nSubject: x`, mail("two"));
  const { mails } = await importOf({ "a.mbox": content });
  expect(mails?.map(({ subject }) => subject)).toEqual(["one", "two"]);
});

test("reads past attachments that are larger than what is kept of a mail, on short and endless lines", async () => {
  // A megabyte is kept, and twice as much is read.
  const large = (line: string) =>
    `${dateHeader}\nSubject: large\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\nHi\n--q\nContent-Disposition: attachment\n\n${line.repeat(30_000)}\n--q--`;
  const small = `${dateHeader}\nSubject: small\n\nHi`;
  const line = "A".repeat(76);
  const { mails } = await importOf({
    "a.mbox": mbox(large(`${line}\n`), small, large(line), small),
  });
  expect(mails).toMatchObject(
    ["large", "small", "large", "small"].map((subject) => ({ subject, snippet: "Hi" })),
  );
});

test("reads gzip, also in several members", async () => {
  const one = gzipSync(mbox(`${dateHeader}\nSubject: one\n\nHi`));
  const two = gzipSync(mbox(`${dateHeader}\nSubject: two\n\nHi`));
  const { mails } = await importOf({ "a.mbox.gz": Buffer.concat([one, two]) });
  expect(mails).toMatchObject([{ subject: "one" }, { subject: "two" }]);
});

const inner = `${dated}\n${mail("inner")}\n`;
const withLength = (text: string, length: number) =>
  `${dated}\n${dateHeader}\nSubject: outer\nContent-Length: ${length}\n\n${text}\n`;

test.each([
  ["the next separator", 0, "", ["outer", "next"]],
  ["the end of the file", 0, null, ["outer"]],
  ["another place", 7, "", ["outer", "inner", "next"]],
])("a Content-Length that points to %s", async (_, error, then, expected) => {
  const text = `Old mails:\n\n${inner}Bye\n`;
  const next = then === null ? "" : `${dated}\n${mail("next")}\n`;
  const { mails } = await importOf({ "a.mbox": withLength(text, text.length + error) + next });
  expect(mails?.map(({ subject }) => subject)).toEqual(expected);
});

test.each([
  ["a TAB after the address", "From nobody@nowhere\tMon Nov  2 09:00:00 2026\n"],
  ["nothing after From, and no empty line before it", "From \n"],
  ["a quoted separator below it", `From - Mon Nov 02 09:00:00 2026\n>${dated}\n`],
])("a separator with %s separates in a file of others", async (_, separator) => {
  const content = `${dated}\n${mail("one")}${separator}${mail("two")}`;
  const { mails, exitCode } = await importOf({ "a.mbox": content });
  expect(mails?.map(({ subject }) => subject)).toEqual(["one", "two"]);
  expect(exitCode).toBe(0);
});

test("a line that may be a separator and is not taken is told", async () => {
  const content = mbox(`${dateHeader}\nSubject: one\n\nHello.\n\nFrom ada@example.com\nSubject: x`);
  const { exitCode, stderr } = await importOf({ "a.mbox": content });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/1 line looks like a separator and was not taken: at byte \d+/);
});

test.each(["Thu Jan  1 00:00:00 1970", "Mon Sep 17 00:00:00 2001", "Mon Jan  1 12:34:56 1970"])(
  "the separator time %s is no delivery",
  async (time) => {
    const { mails } = await importOf({ "a.mbox": `From ada@example.com ${time}\n${mail("one")}` });
    expect(mails?.[0]).not.toHaveProperty("received");
  },
);

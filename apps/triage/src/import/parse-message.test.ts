import { expect, test } from "vitest";
import { parseTime } from "./mail-dates.ts";
import { parseMessage } from "./parse-message.ts";

const parse = async (message: string) => await parseMessage(Buffer.from(message, "latin1"));
const dayOf = async (text: string) => (await parse(`Date: ${text}\nSubject: s\n\n`)).date;

test.each([
  ["Mon, 02 Nov 2026 09:00:00 +0100", "2026-11-02"],
  ["Mon, 2 Nov 2026 09:05:07 Mitteleuropa", "2026-11-02"],
  ["Mon, 2 Nov 2026  09:05 Mitteleuropa", "2026-11-02"],
  ["Montag, 12-Nov-2026 19:05:07 Uhr MEZ", "2026-11-12"],
  ["sent on 12 November 2026, in the evening", "2026-11-12"],
  ["Mon, 05 Jan 2026 23:30:00 -0800", "2026-01-05"],
  ["Tue, 06 Jan 2026 00:30:00 +0900 (JST)", "2026-01-06"],
  ["Mon, 5 Jan 2026 23:30:00 PST", "2026-01-05"],
  ["Mon, 5 Jan 2026 23:30:00 -0800 junk", "2026-01-05"],
  ["5 Jan 26 23:30 EST", "2026-01-05"],
  ["Mon, 5 Jan 2026 23:30:00", "2026-01-05"],
  ["2026-01-05T23:30:00-08:00", "2026-01-05"],
  ["2026-01-05T23:30:00.123Z", "2026-01-05"],
  ["2026-01-05", "2026-01-05"],
  ["January 5, 2026 11:30 PM PST", "2026-01-05"],
  ["Mon Jan  5 23:30:00 2026", "2026-01-05"],
  ["Mon Jan  5 23:30:00 PST 2026", "2026-01-05"],
  ["Mon Jan  5 23:30:00 2026 -0800", "2026-01-05"],
  ["Mon Jan  5 00:30:00 +0100 2026", "2026-01-05"],
])("the day of %j is the one on the sender's clock", async (text, date) => {
  expect(await dayOf(text)).toBe(date);
});

test.each([
  "",
  "soon",
  "Mon, 02 Nov 12026 09:00:00 +0000",
  "Mon, 99 Nov 2026 25:00 Uhr",
  `${"x".repeat(200)} 2 Nov 2026`,
])("the date %j is none", async (text) => {
  expect(await dayOf(text)).toBeNull();
});

test.each([
  ["Mon, 02 Nov 2026 00:30:00 +0100 (CET)", "2026-11-01T23:30:00.000Z"],
  ["Mon, 5 Jan 2026 23:30:00 PST", "2026-01-06T07:30:00.000Z"],
  ["Mon Jan  5 23:30:00 -0800 2026", "2026-01-06T07:30:00.000Z"],
  ["Mon Jan  5 23:30:00 2026", "2026-01-05T23:30:00.000Z"],
  ["Mon, 5 Jan 2026 23:30:00 MEZ", "2026-01-05T00:00:00.000Z"],
  ["Mon, 02 Nov 12026 09:00:00 +0000", null],
  ["", null],
])("the time of %j is %j", (text, time) => {
  expect(parseTime(text)).toBe(time);
});

const received = (...dates: string[]) =>
  dates.map((date) => `Received: from a (b; c) by d; ${date}\n`).join("");
const [earlier, later] = ["Sun, 01 Nov 2026 09:00:00 +0000", "Mon, 02 Nov 2026 10:00:00 +0000"];

test.each([
  ["its Date", `${received(later)}Date: ${earlier}`, "2026-11-01"],
  ["the last Received", `Date: soon\n${received(later, earlier)}Subject: s`, "2026-11-02"],
  ["nothing", "Received: by a\nSubject: s", null],
])("a mail is dated by %s", async (_, head, date) => {
  expect((await parse(`${head}\n\nHi`)).date).toEqual(date);
});

test.each([
  ["From: Ada <a@b.example>", "Ada <a@b.example>"],
  ["From: a@b.example", "a@b.example"],
  ["From: The team: a@b.example, c@d.example;", "The team <a@b.example>"],
  ["Subject: s", ""],
])("%s is from %j", async (head, from) => {
  expect((await parse(`${head}\n\nHi`)).from).toBe(from);
});

test("an id has no brackets and spaces; without one it is a hash of the whole mail", async () => {
  expect((await parse("Message-ID: <a\n b@c.example>\n\nHi")).id).toBe("ab@c.example");
  for (const head of ["Subject: s", "Message-ID: <>"]) {
    const { id } = await parse(`${head}\n\nHi`);
    expect(id).toMatch(/^mail-[0-9a-f]{24}$/);
    expect((await parse(`${head}\n\nHi`)).id).toBe(id);
    expect((await parse(`${head}\n\nHo`)).id).not.toBe(id);
  }
});

test("reads the labels of Takeout, and tells a mail without them", async () => {
  const head = 'X-Gmail-Labels: =?UTF-8?Q?Ge=C3=B6ffnet?=,"Inbox", My "own"';
  expect((await parse(`${head}\n\nHi`)).labels).toEqual(["Geöffnet", "Inbox", "My own"]);
  expect((await parse("Subject: s\n\nHi")).labels).toBeNull();
});

const encrypted = "(This mail is encrypted; its text cannot be read here.)";
const sealed = "(This mail is sealed in its signature; its text cannot be read here.)";
const part = "Content-Type: multipart/mixed; boundary=q\n\n--q\n";

test.each([
  ["Content-Type: Multipart/Encrypted; boundary=q\n\nx", encrypted],
  ["Content-Type: application/pkcs7-mime\n\nMIAG", encrypted],
  ["Content-Type: application/x-pkcs7-mime; smime-type=enveloped-data\n\nMIAG", encrypted],
  ["Content-Type: application/x-pkcs7-mime; smime-type=signed-data\n\nMIAG", sealed],
  [`${part}Content-Type: application/pgp-encrypted\n\nVersion: 1\n--q--`, encrypted],
  ["Subject: s\n\n  -----BEGIN PGP MESSAGE-----\nabc", encrypted],
  [
    "Subject: s\n\nIt begins so:\n-----BEGIN PGP MESSAGE-----",
    "It begins so:\n-----BEGIN PGP MESSAGE-----",
  ],
  ["Content-Type: text/plain; name=multipart/encrypted\n\nHi", "Hi"],
  ["Content-Type: text/plain; name=application/pkcs7-mime\n\nHi", "Hi"],
  [`${part}Content-Type: text/plain\n\nHi\n--q\nContent-Type: image/png\n\nx\n--q--`, "Hi"],
])("of %j the text is %s", async (message, text) => {
  expect((await parse(message)).text).toBe(text);
});

test.each(["\n", "\r\n"])("raw bytes in a mail with line ends %j are windows-1252", async (end) => {
  const lines = ["From: M\xfcller <m@b.example>", "Subject: 20 \x80", "", "Gr\xfc\xdfe", "K\xf6ln"];
  const { from, subject, text } = await parse(lines.join(end));
  expect({ from, subject }).toEqual({ from: "Müller <m@b.example>", subject: "20 €" });
  expect(text.split(/\r?\n/)).toEqual(["Grüße", "Köln"]);
});

test.each([
  ["charset", "\n"],
  ["CHARSET", "\r\n"],
])("a text that names its %s is read in it, and raw headers above are not", async (word, end) => {
  const type = `Content-Type: text/plain; ${word}=windows-1251`;
  const lines = [type, "Subject: M\xfcll", "From: M\xfcller <m@b.example>", "", "\xcf\xf0\xe8", ""];
  const { subject, from, text } = await parse([...lines, "\xcf"].join(end));
  expect({ subject, from }).toEqual({ subject: "Müll", from: "Müller <m@b.example>" });
  expect(text.split(/\s+/)).toEqual(["При", "П"]);
});

test("reads a mail of headers alone, and bytes that stand amid others", async () => {
  const whole = Buffer.from("before Subject: M\xfcll\nFrom: a@b.example after", "latin1");
  const { subject, from, text } = await parseMessage(whole.subarray(7, -6));
  expect({ subject, from, text }).toEqual({ subject: "Müll", from: "a@b.example", text: "" });
});

test.each(["", "Hello there,\n\nthis is no mail.", ": no name\n\nHi"])(
  "%j has no header, and is no mail",
  async (text) => {
    await expect(parse(text)).rejects.toThrow("it has no header");
  },
);

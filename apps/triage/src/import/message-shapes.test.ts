import { expect, test } from "vitest";
import { dateHeader, importedMail, importOf } from "../testing/import-of.ts";

test.each([
  [
    "folded headers",
    `${dateHeader}\nSubject: one\n two\n\tthree\nFrom: a@b.example\n\nHi`,
    { subject: "one two three" },
  ],
  [
    "RFC 2047 words, split inside a character's neighbours",
    `${dateHeader}\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?UTF-8?B?IGF1cw==?= =?iso-8859-1?q?_K=F6ln?=\nFrom: =?utf-8?B?5pel5pys?= <n@b.example>\n\nHi`,
    { subject: "Grüße aus Köln", from: "日本 <n@b.example>" },
  ],
  [
    "a blank line with a space in it behind the header",
    `${dateHeader}\nSubject: s\n \nHello Ada,\n\nplease pay.`,
    { subject: "s", snippet: "Hello Ada, please pay." },
  ],
  [
    "no blank line behind the header",
    `${dateHeader}\nSubject: s\nHello Ada,\nplease pay.\n`,
    { subject: "s", snippet: "Hello Ada, please pay." },
  ],
  [
    "a line within the header that is no field",
    `${dateHeader}\nno field\nSubject: s\n\nHi`,
    { subject: "s", snippet: "Hi" },
  ],
  [
    "a part without a blank line",
    `${dateHeader}\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\n \nHello.\n--a--`,
    { snippet: "Hello." },
  ],
  [
    "parts whose header runs into their text",
    `${dateHeader}\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\nHello,\n\n--a\nContent-Type: text/plain\nAda.\n--a--`,
    { snippet: "Hello, Ada." },
  ],
  ["no From", `${dateHeader}\nSubject: s\n\nHi`, { from: "", snippet: "Hi" }],
  ["no Subject", `${dateHeader}\nFrom: a@b.example\n\nHi`, { subject: "", from: "a@b.example" }],
  ["no Date", `From: a@b.example\nSubject: s\n\nHi`, { date: "2026-11-02" }],
  ["a date in another zone", "Date: Mon, 02 Nov 2026 23:30:00 -0500\n\nHi", { date: "2026-11-02" }],
  [
    "HTML only",
    `${dateHeader}\nContent-Type: text/html; charset=utf-8\n\n<style>p{}</style><p>Tom &amp; Ann&nbsp;meet <a href="http://x.example">here</a></p><script>x</script>`,
    { snippet: "Tom & Ann meet here" },
  ],
  ["entities in plain text", `${dateHeader}\n\nTom &amp; Ann&#39;s`, { snippet: "Tom & Ann's" }],
  [">From lines", `${dateHeader}\n\n>From me\n>>From you`, { snippet: "From me >From you" }],
  [
    "a From line in the text",
    `${dateHeader}\n\nHello.\nFrom bob@b.example Mon Nov  2 10:00:00 2026\n\nFrom there too.`,
    { snippet: "Hello. From bob@b.example Mon Nov 2 10:00:00 2026 From there too." },
  ],
  [
    "Windows line ends",
    `${dateHeader}\r\nSubject: s\r\n\r\nHi\r\nyou`,
    { subject: "s", snippet: "Hi you" },
  ],
  [
    "nested multipart with an attachment and a mail inside",
    [
      dateHeader,
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
      "<b>Caf&eacute;</b> at noon, with <i>cake</i>",
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
    { snippet: "Café at noon, with cake" },
  ],
  ["terminal escapes", `${dateHeader}\nSubject: a\u001b[2Jb\u202e\n\nHi`, { subject: "ab" }],
])("reads a mail with %s", async (_, message, expected) => {
  expect(await importedMail(message)).toMatchObject(expected);
});

test("reads old charsets", async () => {
  const head = `${dateHeader}\nContent-Type: text/plain; charset=windows-1251\nContent-Transfer-Encoding: 8bit\n\n`;
  const message = Buffer.concat([
    Buffer.from(head),
    Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  ]);
  const folder = await importOf({ "mails/a.eml": message }, "mails");
  expect(folder.mails).toMatchObject([{ snippet: "Привет" }]);
});

import { expect, test } from "vitest";
import { parseMessage } from "./parse-message.ts";

const parse = async (...lines: string[]) =>
  await parseMessage(Buffer.from(["Subject: s", ...lines].join("\n")));
const textOf = async (...lines: string[]) => (await parse(...lines)).text;
const part = (type: string, text: string, more = "") =>
  `--b\nContent-Type: ${type}\n${more}\n${text}`;
const multipart = (subtype: string, ...parts: string[]) => [
  `Content-Type: multipart/${subtype}; boundary=b`,
  "",
  ...parts,
  "--b--",
];
const attached = "Content-Disposition: attachment\n";

test.each([
  "text",
  "text/",
  "html",
  "text/html charset=utf-8",
  "text/enriched",
  "text/markdown",
  "text/calendar",
  "",
  "plain",
  "foo",
  "text/x-patch",
])("the type %j is text", async (type) => {
  expect(await textOf(`Content-Type: ${type}`, "", "The words.")).toBe("The words.");
});

test("the last alternative that can be shown is shown, and told if it has other words", async () => {
  const page = part("text/html", "<p>Your wallet is suspended today.</p>");
  const shown = async (plain: string) =>
    await parse(...multipart("alternative", part("text/plain", plain), page));
  for (const plain of [
    "AAA",
    "\u200b",
    "&nbsp;",
    "Use a program that shows HTML.",
    ".a { margin: 0 }",
    "<html><style>p{}</style></html>",
  ]) {
    expect((await shown(plain)).text).toBe("Your wallet is suspended today.");
  }
  expect((await shown("Our picnic was lovely, thanks for coming.")).headers).toEqual({
    textsDiffer: true,
  });
  expect((await shown("Your wallet is suspended, today.")).headers).toBeUndefined();
  expect((await shown("Use a program that shows HTML.")).headers).toBeUndefined();
  expect((await shown("")).headers).toBeUndefined();
});

test("an alternative without words gives way to the one before", async () => {
  const mail = multipart(
    "alternative",
    part("text/plain", "Hello."),
    part("text/html", "<style>p{}</style>"),
  );
  expect(await textOf(...mail)).toBe("Hello.");
  const event = part(
    "text/calendar; method=REQUEST",
    "BEGIN:VCALENDAR\nSUMMARY;LANGUAGE=en:Lunch\\, late\nEND:VCALENDAR",
  );
  expect(await textOf(...multipart("alternative", part("text/plain", "Come."), event))).toBe(
    "Come.",
  );
  expect(await textOf(...multipart("alternative", event))).toBe("Lunch, late");
  const amp = part("text/x-amp-html", "<p>short</p>");
  expect(await textOf(...multipart("alternative", part("text/plain", "Come."), amp))).toBe("Come.");
});

test.each([
  ["a boundary that never comes", ["Content-Type: multipart/mixed; boundary=a", "", "Words."]],
  [
    "another boundary than the header's",
    ["Content-Type: multipart/mixed; boundary=a", "", part("text/plain", "Words."), "--b--"],
  ],
  [
    "no semicolon before the boundary",
    ["Content-Type: multipart/mixed boundary=b", "", part("text/plain", "Words."), "--b--"],
  ],
])("a multipart with %s is read", async (_, lines) => {
  expect(await textOf(...lines)).toBe("Words.");
});

test.each([
  [
    "a forwarded mail alone",
    part("message/rfc822", "Subject: t\n\nHi"),
    "(This mail holds a forwarded mail alone.)",
  ],
  [
    "a report",
    `${part("message/rfc822", "Subject: t\n\nHi")}\n${part("message/delivery-status", "Status: 5")}`,
    "(This mail is a report on another mail.)",
  ],
  ["a PDF", part("application/pdf", "%PDF", attached), "(This mail holds a PDF file alone.)"],
  [
    "winmail.dat",
    part("application/octet-stream; name=winmail.dat", "x"),
    "(The text of this mail is in winmail.dat, a format of Outlook.)",
  ],
  ["a picture", part("image/png", "x", attached), "(This mail shows images alone.)"],
  [
    "another file",
    part("application/zip", "x", attached),
    "(This mail holds attached files alone.)",
  ],
])("a mail of %s says so", async (_, parts, text) => {
  expect(await textOf(...multipart("mixed", parts))).toBe(text);
});

test.each([
  "<meta charset=windows-1251>",
  '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
  '<?xml version="1.0" encoding="windows-1251"?>',
])("a page is read in the charset that it names itself: %s", async (name) => {
  const mail = `Content-Type: text/html\n\n${name}<p>\xcf\xf0\xe8</p>`;
  expect((await parseMessage(Buffer.from(mail, "latin1"))).text).toBe("При");
});

test("joins the lines of a text whose spaces are deleted (RFC 3676)", async () => {
  expect(
    await textOf("Content-Type: text/plain; format=flowed; delsp=yes", "", "long \nword"),
  ).toBe("longword");
});

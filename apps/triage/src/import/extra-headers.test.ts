import { expect, test } from "vitest";
import { importOf, mbox } from "../testing/import-of.ts";

const part = (headers: string, text: string) => `--b\n${headers}\n\n${text}\n`;

test("attachments, List-Id and what was checked of the sender are kept, safe to print", async () => {
  const message = [
    "Authentication-Results: mx.example.com (a \u0007gateway);",
    " dkim=pass header.i=@shop.example header.s=k1 header.b=AbC;",
    " spf=pass (domain of x designates 192.0.2.1) smtp.mailfrom=shop.example",
    "Authentication-Results: mx.evil.example; dmarc=pass",
    "List-Id: =?utf-8?q?Caf=C3=A9_=E2=80=AEnews?= <news.shop.example>",
    "From: ada@example.com\nDate: Mon, 02 Nov 2026 09:00:00 +0000",
    'Content-Type: multipart/mixed; boundary="b"\n',
    part("Content-Type: text/plain", "Hello."),
    part(
      'Content-Type: application/PDF\nContent-Disposition: attachment; filename="order 4111 1111 1111 1111.pdf"',
      "%PDF",
    ),
    part('Content-Type: image/png\nContent-Disposition: inline; filename="logo.png"', "x"),
    "--b--",
  ].join("\n");
  const { mails } = await importOf({ "a.mbox": mbox(message, "From: bo@example.com\n\nPlain.") });
  expect(mails?.[0]).toMatchObject({
    attachments: [{ name: "order .pdf", type: "application/pdf" }],
    list_id: "Café news <news.shop.example>",
    authentication_results:
      "mx.example.com; dkim=pass header.i=@shop.example; spf=pass smtp.mailfrom=shop.example",
  });
  expect(Object.keys(mails?.[1] ?? {})).toEqual("id date from subject snippet source".split(" "));
});

test("a dump of the Gmail API has them in its parts and headers", async () => {
  const headers = [
    { name: "List-ID", value: "<team.example.com>" },
    { name: "Subject", value: "s" },
  ];
  const pdf = { filename: "cv.pdf", mimeType: "application/pdf" };
  const parts = [{ filename: "", parts: [pdf] }, { mimeType: "text/html" }];
  const { mails } = await importOf({
    "dump.json": JSON.stringify([{ id: "1", internalDate: "0", payload: { headers, parts } }]),
  });
  expect(mails?.[0]).toMatchObject({
    attachments: [{ name: "cv.pdf", type: "application/pdf" }],
    list_id: "<team.example.com>",
  });
});

const pdf = "Content-Type: application/pdf";
const inlinePdf = `${pdf}\nContent-Disposition: inline; filename="a.pdf"`;
const picture =
  'Content-Type: image/png\nContent-ID: <i@x>\nContent-Disposition: inline; filename="i.png"';

test.each([
  ["of Apple Mail and Email::Stuffer, which write inline", "mixed", inlinePdf, ["a.pdf"]],
  ["of gomail, in the page", "related", `${inlinePdf}\nContent-ID: <a.pdf>`, ["a.pdf"]],
  [
    "that is a mail, inline",
    "mixed",
    "Content-Type: message/rfc822\nContent-Disposition: inline",
    [""],
  ],
  ["that is a picture in a text", "mixed", picture, []],
  ["that is a picture in a page", "related", picture.replace("inline", "attachment"), []],
  ["for AMP beside the other texts", "alternative", "Content-Type: text/x-amp-html", []],
  ["for a calendar beside the texts", "alternative", `${pdf}; name="a.pdf"`, ["a.pdf"]],
])(
  "an attachment %s, is an attachment if it has content of its own",
  async (_, multipart, header, names) => {
    const { mails } = await importOf({ "a.eml": mailWith(multipart, header) });
    expect(mails?.[0]?.attachments?.map(({ name }) => name) ?? []).toEqual(names);
  },
);

test.each([
  ["filename*=UTF-8''f%C3%BCr%20%E2%82%AC.pdf", "für €.pdf"],
  ["filename*=UTF-8''%C3%9Cb.pdf", "Üb.pdf"],
  ["filename*=ISO-8859-1''f%FCr.pdf", "für.pdf"],
  ["filename*=US-ASCII''f%C3%BCr%20%E2%82%AC.pdf", "für €.pdf"],
  ["filename*0*=UTF-8''%E6%8A; filename*1*=%A5%C3%A9.pdf", "报é.pdf"],
  [Buffer.from('filename="für €.pdf"').toString("latin1"), "für €.pdf"],
  [Buffer.from('filename="Üb.pdf"').toString("latin1"), "Üb.pdf"],
  ['filename="f\xfcr.pdf"', "für.pdf"],
  ['filename="\xb1\xa8\xb8\xe6.pdf"', "报告.pdf"],
  ['filename="A =?utf-8?q?f=C3=BCr_=E2=82=AC.pdf?="', "A für €.pdf"],
])("the file name of %j is %j", async (parameter, name) => {
  const header = `${pdf}\nContent-Disposition: attachment; ${parameter}`;
  const { mails } = await importOf({
    "a.eml": Buffer.from(mailWith("mixed", header), "latin1"),
  });
  expect(mails?.[0]?.attachments).toEqual([{ name, type: "application/pdf" }]);
});

test("a first line that begins as a boundary may be of an older charset", async () => {
  const mail = mailWith("mixed", pdf).replace("gb2312", "iso-8859-1");
  const message = Buffer.from(mail.replace("Hello.", "--J\xfcrgen\nHello."), "latin1");
  const { mails } = await importOf({ "a.eml": message });
  expect(mails?.[0]?.snippet).toBe("--Jürgen Hello.");
});

function mailWith(multipart: string, header: string): string {
  return [
    "From: ada@example.com\nSubject: s",
    `Content-Type: multipart/${multipart}; boundary="b"\n`,
    part("Content-Type: text/plain; charset=gb2312", "Hello."),
    part(header, "x"),
    "--b--",
  ].join("\n");
}

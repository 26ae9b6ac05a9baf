import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const paragraph =
  "Calendar Bridge was given access to your Cloudlark account. If you did not allow this, your account may be at risk: check the activity and remove the access now.\n";
const attachment = "QSBxdWllciBsaXR0bGUgYXR0YWNobWVudCB3aXRoIG5vdGhpbmcgbXVjaCBpbiBpdC4gIEE=\n";

/** Writes an mbox of that many mails: plain, HTML, and every tenth with an attachment. */
export async function writeMbox(path: string, mails: number): Promise<void> {
  await pipeline(Readable.from(messages(mails)), createWriteStream(path));
}

function* messages(count: number): Generator<string> {
  for (let number = 0; number < count; number += 1) yield message(number);
}

function message(number: number): string {
  const minute = String(number % 60).padStart(2, "0");
  return [
    `From mail@example.com Mon Mar  2 09:${minute}:00 2026`,
    `Message-ID: <${number}@mail.example>`,
    "Date: Mon, 02 Mar 2026 09:00:00 +0000",
    `From: "Cloudlark Accounts" <no-reply-${number}@accounts.cloudlark.example>`,
    "To: someone@example.com",
    `Subject: =?utf-8?Q?Security_alert_${number}:_an_app_was_given_acc=C3=A8s?=`,
    "MIME-Version: 1.0",
    ...body(number),
    "",
    "",
  ].join("\n");
}

function body(number: number): string[] {
  if (number % 10 === 0) return withAttachment();
  return number % 2 === 0 ? plain() : alternative();
}

function plain(): string[] {
  return ["Content-Type: text/plain; charset=utf-8", "", paragraph.repeat(12)];
}

function alternative(): string[] {
  const html = `<html><body>${`<p style=3D"margin:0">${paragraph}</p>`.repeat(30)}</body></html>`;
  return [
    'Content-Type: multipart/alternative; boundary="part"',
    "",
    "--part",
    ...plain(),
    "--part",
    "Content-Type: text/html; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    html,
    "--part--",
  ];
}

function withAttachment(): string[] {
  return [
    'Content-Type: multipart/mixed; boundary="part"',
    "",
    "--part",
    ...plain(),
    "--part",
    'Content-Type: application/pdf; name="notice.pdf"',
    "Content-Disposition: attachment",
    "Content-Transfer-Encoding: base64",
    "",
    attachment.repeat(700),
    "--part--",
  ];
}

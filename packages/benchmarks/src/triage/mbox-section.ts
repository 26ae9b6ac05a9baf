import { createWriteStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { printNumber } from "../figures.ts";
import { runProgram } from "../process/program.ts";
import type { SectionResult, SectionContext } from "../section.ts";
import { temporaryFolder } from "./run-triage.ts";

/** Measures the import of a large mbox. */
export async function mboxSection({ scale, tell }: SectionContext): Promise<SectionResult> {
  const mails = scale.mboxMails;
  tell(`mbox, ${mails} mails`);
  await using folder = await temporaryFolder();
  const [source, out] = [join(folder.path, "mail.mbox"), join(folder.path, "mail.json")];
  await writeMbox(source, mails);
  const megabytes = (await stat(source)).size / 2 ** 20;
  const args = ["import", source, out];
  const { wallMs } = await runProgram("apps/triage/src/main.ts", { args });
  await verifyImport(out, mails);
  const seconds = wallMs / 1000;
  const table = {
    title: "Import of an mbox",
    columns: ["mails", "MB", "whole command s", "MB/s", "mails/s"],
    rows: [
      [
        mails.toLocaleString("en"),
        ...[megabytes, seconds, megabytes / seconds, mails / seconds].map(printNumber),
      ],
    ],
  };
  return { tables: [table], data: { mails, megabytes, wallMs } };
}

/**
 * Makes sure that every mail arrived with its text.
 *
 * @throws Error when one is missing or was misread.
 */
async function verifyImport(path: string, mails: number): Promise<void> {
  const records = JSON.parse(await readFile(path, "utf8")) as Record<string, string>[];
  const whole = records.filter(isWhole).length;
  if (whole === mails && records.length === mails) return;
  throw new Error(`${path} holds ${whole} whole mails of ${records.length}, not ${mails}.`);
}

function isWhole({ subject, snippet = "" }: Record<string, string>, index: number): boolean {
  const isTitled = subject === `Security alert ${index}: an app was given accès`;
  return isTitled && snippet.startsWith("Calendar Bridge was given access");
}

const paragraph =
  "Calendar Bridge was given access to your Cloudlark account. If you did not allow this, your account may be at risk: check the activity and remove the access now.\n";
const attachment = "QSBxdWllciBsaXR0bGUgYXR0YWNobWVudCB3aXRoIG5vdGhpbmcgbXVjaCBpbiBpdC4gIEE=\n";

/** Writes an mbox of that many mails: plain, HTML, and every tenth with an attachment. */
async function writeMbox(path: string, mails: number): Promise<void> {
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

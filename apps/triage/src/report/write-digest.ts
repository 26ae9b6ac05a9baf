import { html, type Html, page } from "evaluator-kit/page";
import { printCount, printMails } from "evaluator-runs/source";
import type { ProgramContext } from "evaluator-runs/commands";
import { addressesIn } from "../input/mail.ts";
import type { ListedRow } from "./mail-row.ts";
import type { ReportParts } from "./report-page.ts";
import { type ReportCommand, withReport, writePage } from "./write-report.ts";

const ROWS = 20;

/** Writes the top of the list as a page, or as a mail that other programs can send; returns the exit code. */
export async function writeDigest(
  command: ReportCommand & { readonly file: string; readonly eml?: true | undefined },
  context: ProgramContext,
): Promise<number> {
  return await withReport(command, context, async (parts) => {
    const title = `Triage of ${printMails(parts.list.length)}`;
    const content = page({
      title,
      style: "",
      body: html`<h1>${title}</h1>
        ${topOf(parts)}`,
    });
    const file =
      command.eml === true
        ? { content: toMail(title, content, context), end: ".digest.eml" }
        : { content, end: ".digest.html" };
    await writePage(command.file, file, context);
    return 0;
  });
}

function topOf({ sections, list, score }: ReportParts): (Html | null)[] {
  let left = ROWS;
  return sections.map(({ title }, at) => {
    const items = list.first(at, left).map((row) => itemOf(row, score));
    left -= items.length;
    if (items.length === 0) return null;
    return html`<h2>${title} (${printCount(list.counts[at]?.threads ?? 0)})</h2>
      <ul>
        ${items}
      </ul>`;
  });
}

// Mail programs read little style, so this is plain.
function itemOf({ link, ...row }: ListedRow, score: number): Html {
  const subject = row.subject || "(no subject)";
  const shown = link === null ? subject : html`<a href="${link.href}">${subject}</a>`;
  const level = row.answers?.[score]?.value.toFixed(1) ?? "";
  const waiting = row.waiting === "" ? "" : `waiting for ${row.waiting}`;
  const mails = row.mails > 1 ? printMails(row.mails) : "";
  const facts = [level, row.sender, row.address, row.day, mails, waiting].filter(Boolean);
  return html`<li><b>${shown}</b><br />${facts.join(" · ")}</li>`;
}

/** Returns a page as a mail to the user (RFC 5322). */
function toMail(title: string, text: string, { env, clock }: ProgramContext): string {
  const [address = "triage@localhost"] = addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? "");
  const head = `Date: ${clock.today().toUTCString().replace("GMT", "+0000")}
From: ${address}
To: ${address}
Subject: ${title}
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64
`;
  const lines =
    Buffer.from(text)
      .toString("base64")
      .match(/.{1,76}/g) ?? [];
  return [...head.split("\n"), ...lines, ""].join("\r\n");
}

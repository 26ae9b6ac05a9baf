import { html, page, table } from "evaluator-kit/page";
import type { ProgramContext } from "evaluator-runs/commands";
import { printCounted } from "evaluator-runs/source";
import { addressesIn } from "../input/mail.ts";
import type { ReportParts } from "./report-page.ts";
import { type ReportCommand, withReport, writePage } from "./write-report.ts";

const ROWS = 20;
/** Writes the top of the list as a page, or as a mail that other programs can send; returns the exit code. */
export async function writeDigest(
  command: ReportCommand & { readonly file: string; readonly eml?: true | undefined },
  context: ProgramContext,
): Promise<number> {
  return await withReport(command, context, async (parts) => {
    const title = `Triage of ${printCounted(parts.list.length, "mail")}`;
    const toText = (pages: ReportParts["pages"]) =>
      page({ tool: "evaluator-triage", pages, heading: title, body: findTop(parts) });
    const digestPage =
      command.eml === true
        ? {
            toContent: () => toMail(title, toText([]), context),
            end: ".digest.eml",
            isOwn: (beginning: string) => /^Date: .*\r\nFrom: .*\r\nTo: /.test(beginning),
          }
        : { toContent: toText, end: ".digest.html" };
    await writePage(command.file, digestPage, context);
    return 0;
  });
}

// Mail programs read little style, so this is a plain table.
function findTop({ sections, list, score }: ReportParts) {
  const rows = sections.flatMap(({ title }, at) =>
    list.first(at, ROWS).map(({ subject, link, sender, address, day, answers, mails, waiting }) => [
      html`${link === null ? subject : html`<a href="${link.href}">${subject || "(no subject)"}</a>`}<br />
        <small>${sender} ${address}</small>`,
      answers?.[score]?.value.toFixed(1) ?? "",
      title,
      mails === 1 ? day : `${day}, ${printCounted(mails, "mail")}`,
      waiting,
    ]),
  );
  const head = ["mail", "level", "section", "received", "waits for"];
  return table("Mails", head, rows.slice(0, ROWS));
}

/** Returns a page as a mail to the user (RFC 5322). */
function toMail(title: string, text: string, { env, clock }: ProgramContext): string {
  const [address = "triage@localhost"] = addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? "");
  const head = `Date: ${new Date(clock.epochNow()).toUTCString().replace("GMT", "+0000")}
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

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CliError, printable, toPrintablePath } from "evaluator-kit";
import type { ProgramContext } from "evaluator-runs/commands";
import { withResults } from "evaluator-runs/results";
import { readSource } from "../import/read-source.ts";
import { toMail } from "../import/to-mail.ts";
import type { Mail } from "../input/mail-schema.ts";
import { localDay, mailOfRecord } from "../input/mail.ts";
import { reportPage } from "./report-page.ts";
import { serveList } from "./serve-list.ts";
import { type ReportCommand, withReport } from "./write-report.ts";

const DAY_MS = 86_400_000;
const pages = [
  { href: "./", name: "List", isCurrent: true },
  { href: "check/?question=scam", name: "Label" },
];

type ServeCommand = ReportCommand &
  Readonly<{ file: string; port: number; source?: string | undefined }>;

/** Serves the report on this machine, with choices that later reports keep; returns the exit code. */
export async function serveReport(command: ServeCommand, context: ProgramContext): Promise<number> {
  const headers = { "Content-Type": "message/rfc822", "Content-Disposition": "attachment" };
  return await serveList(command, context, {
    readList: ({ notesOf, hasLastGroup }) =>
      withReport(command, context, async (parts) => {
        const tomorrow = localDay(new Date(context.clock.epochNow() + DAY_MS));
        const notes = [...parts.notes, ...notesOf(parts.calibration)];
        let html = "";
        for await (const piece of reportPage({
          ...parts,
          pages,
          tomorrow,
          notes,
          hasLastGroup,
        }))
          html += piece;
        return { html, ...parts.list.threads() };
      }),
    addRoutes: (app) =>
      app.get("/mail.eml", async (c) =>
        c.body(await readMail(c.req.query("id"), command, context), 200, headers),
      ),
  });
}

/** Reads the bytes of a mail of the newest run from its export. */
async function readMail(id: string | undefined, command: ServeCommand, context: ProgramContext) {
  const { source } = command;
  if (source === undefined) throw new CliError("Start serve with --source PATH.");
  const path = resolve(context.cwd, source);
  return await withResults(command, context, async ({ rows }) => {
    for await (const { input } of rows) {
      if (toPrintablePath(input.id) !== id) continue;
      return new Uint8Array(await readOriginal(path, mailOfRecord(input), context.signal));
    }
    throw new CliError("The run has no such mail. Load the list again.");
  });
}

/** Opens only files of an export, whatever the record of the mail names. */
async function readOriginal(path: string, mail: Mail, signal: AbortSignal): Promise<Buffer> {
  const all = existsSync(path) ? readSource(path, { signal, mailPlace: mail.source }) : [];
  for await (const foundMail of all) {
    if (!("read" in foundMail) || foundMail.mailBytes === undefined) continue;
    const { date, from, subject, snippet } = toMail(await foundMail.read(), foundMail);
    if (isDeepStrictEqual({ ...mail, date, from, subject, snippet }, mail))
      return foundMail.mailBytes;
    break; // another mail is at its byte
  }
  const problem = printable`${path} no longer has this mail at its place`;
  throw new CliError(`${problem}. Give the imported export, or import it again.`);
}

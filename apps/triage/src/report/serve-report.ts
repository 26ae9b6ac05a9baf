import { serveList } from "evaluator-runs/label";
import type { ProgramContext } from "evaluator-runs/commands";
import { localDay } from "../input/mail.ts";
import { reportPage } from "./report-page.ts";
import { type ReportCommand, withReport } from "./write-report.ts";

const DAY_MS = 86_400_000;
const pages = [
  { href: "./", name: "List", isCurrent: true },
  { href: "check/?question=scam", name: "Label" },
];

/** Serves the report on this machine, with choices that later reports keep; returns the exit code. */
export async function serveReport(
  command: ReportCommand & { readonly file: string; readonly port: number },
  context: ProgramContext,
): Promise<number> {
  return await serveList(command, context, (notesOf) =>
    withReport(command, context, async (parts) => {
      const tomorrow = localDay(new Date(context.clock.epochNow() + DAY_MS));
      const notes = [...parts.notes, ...notesOf(parts.calibration)];
      const pieces: string[] = [];
      for await (const piece of reportPage({ ...parts, pages, tomorrow, notes }))
        pieces.push(piece);
      return { html: pieces.join(""), threads: parts.list.threads() };
    }),
  );
}

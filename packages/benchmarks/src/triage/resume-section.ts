import { stat } from "node:fs/promises";
import { join } from "node:path";
import { triageQuestions } from "../sample-requests.ts";
import { printNumber } from "../figures.ts";
import type { SectionResult, SectionContext } from "../section.ts";
import { writeInbox, inboxName, resumeTriage, runTriage, temporaryFolder } from "./run-triage.ts";

/** Measures how long the triage takes when its journal holds every answer already. */
export async function resumeSection(context: SectionContext): Promise<SectionResult> {
  const { server, scale, tell } = context;
  const rows = scale.journalRows;
  await server.answer(triageQuestions());
  await using folder = await temporaryFolder();
  await writeInbox(join(folder.path, inboxName), rows);
  const run = { folder: folder.path, mails: rows, concurrency: 64 };
  tell(`resume, filling a journal of ${rows} rows`);
  const first = await runTriage(run, server);
  tell("resume, running again");
  const again = await resumeTriage(run, server);
  const { size } = await stat(join(folder.path, inboxName.replace(".json", ".triage.sqlite")));
  const table = {
    title: `Triage over a journal of ${rows.toLocaleString("en")} rows`,
    columns: ["", "whole command s", "rows/s", "requests"],
    rows: [
      ["first run, 64 in flight, no latency", ...printRun(first, rows)],
      ["same command again", ...printRun(again, rows)],
    ],
    note: `The journal takes ${printNumber(size / 2 ** 20)} MB.`,
  };
  return { tables: [table], data: { rows, first, again, journalBytes: size } };
}

function printRun(run: { wallMs: number; requests: number }, rows: number): string[] {
  const seconds = run.wallMs / 1000;
  return [printNumber(seconds), printNumber(rows / seconds), run.requests.toLocaleString("en")];
}

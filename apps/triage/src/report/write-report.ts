import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ReportCommand } from "../arguments/report-arguments.ts";
import { toFileError } from "../file-error.ts";
import { toJournalPath } from "../journal/journal-path.ts";
import { readJournal } from "../journal/journal-reader.ts";
import type { RunFacts } from "../journal/run-facts.ts";
import { toOutputPath } from "../output/output-path.ts";
import { writeWholeFile } from "../output/write-whole-file.ts";
import type { Surroundings } from "../surroundings.ts";
import { plainMessage } from "../text/plain-message.ts";
import { findResults } from "./find-results.ts";
import { readResults } from "./read-results.ts";
import { reportPage } from "./report-page.ts";

/**
 * Makes a page from the newest results of a file: `.triage.html` in place of `.json`.
 *
 * @throws TriageError when there are no results, or the page cannot be written.
 */
export async function writeReport(
  { file }: ReportCommand,
  { cwd, stderr }: Surroundings,
): Promise<number> {
  const inputPath = resolve(cwd, file);
  const results = findResults(inputPath);
  const runs = await readRuns(toJournalPath(inputPath));
  const page = await reportPage(await readResults(results), runs);
  const path = toOutputPath(inputPath).replace(/\.json$/, ".html");
  await writeWholeFile(path, [page]).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Make room there and run again.");
  });
  stderr.write(plainMessage`Wrote ${path}, from ${results.path}\n`);
  return 0;
}

async function readRuns(path: string): Promise<RunFacts[]> {
  return existsSync(path) ? await readJournal(path, (journal) => journal.runs()) : [];
}

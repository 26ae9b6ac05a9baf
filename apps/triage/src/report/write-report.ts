import { existsSync, type Stats, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type CliContext,
  CliError,
  printable,
  toFileError,
  writeWholeFile,
} from "evaluator-cli-kit";
import { z } from "zod";
import type { ReportCommand } from "../arguments.ts";
import { readJournal, type RunFacts } from "../journal/journal-reader.ts";
import { toJournalPath, toOutputPath } from "../output/paths.ts";
import type { TriageRecord } from "../output/write-records.ts";
import { reportPage } from "./report-page.ts";

/**
 * Makes a page from the newest results of a file: `.triage.html` in place of `.json`.
 *
 * @throws CliError when there are no results, or the page cannot be written.
 */
export async function writeReport(
  { file }: ReportCommand,
  { cwd, stderr }: CliContext,
): Promise<number> {
  const inputPath = resolve(cwd, file);
  const results = findResults(inputPath);
  const runs = await readRuns(toJournalPath(inputPath));
  const page = reportPage(await readResults(results), runs);
  const path = toOutputPath(inputPath).replace(/\.json$/, ".html");
  await writeWholeFile(path, [page]).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Make room there and run again.");
  });
  stderr.write(printable`Wrote ${path}, from ${results.path}\n`);
  return 0;
}

async function readRuns(path: string): Promise<RunFacts[]> {
  return existsSync(path) ? await readJournal(path, (journal) => journal.runs()) : [];
}

/** A file of results that can be read back. */
interface ResultsFile {
  readonly path: string;
  readonly format: "json" | "ndjson";
}

/**
 * Finds the newest results of an input.
 *
 * @throws CliError when there are none, or only CSV, in which cells are changed to be safe.
 */
function findResults(inputPath: string): ResultsFile {
  const files = (["json", "ndjson"] as const).flatMap((format) => {
    const path = toOutputPath(inputPath, format);
    const stats = statsOf(path);
    return stats === undefined ? [] : [{ path, format, writtenAtMs: stats.mtimeMs }];
  });
  const [newest] = files.toSorted((one, other) => other.writtenAtMs - one.writtenAtMs);
  if (newest !== undefined) return newest;
  const csvPath = toOutputPath(inputPath, "csv");
  throw new CliError(
    statsOf(csvPath) === undefined
      ? printable`There are no results at ${toOutputPath(inputPath)}; run triage on the file first.`
      : printable`A report is not made from ${csvPath}; run triage on the file again without --format, which asks nothing again.`,
  );
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

const text = z.string();
const recordSchema = z
  .object({ id: text, date: text, from: text, subject: text })
  .catchall(z.union([text, z.number(), z.null()]));

/**
 * Reads the results of a run.
 *
 * @throws CliError when they cannot be read or are none.
 */
async function readResults({ path, format }: ResultsFile): Promise<TriageRecord[]> {
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, "Run triage on the file again.");
  });
  try {
    return z.array(recordSchema).parse(format === "json" ? JSON.parse(content) : lines(content));
  } catch {
    throw new CliError(printable`${path} does not hold results; run triage on its file again.`);
  }
}

function lines(content: string): unknown[] {
  return content
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

import { existsSync, type Stats, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { CliError, printable, readTextFile, toFileError, writeWholeFile } from "evaluator-cli-kit";
import type { RunInfo } from "evaluator-postgres";
import { z } from "zod";
import type { ReportCommand } from "../commands.ts";
import { recordsOf, withResults } from "../journal-results.ts";
import { inputOf, needJournalPlace } from "../journal-place.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { RunFacts } from "../journal/run-facts.ts";
import { toOutputPath } from "../output/paths.ts";
import type { TriageRecord } from "../output/write-records.ts";
import { withRuns } from "../postgres/open-runs.ts";
import type { TriageContext } from "../service.ts";
import { reportPage } from "./report-page.ts";

/**
 * Makes a page from the newest results of a file: `.triage.html` in place of `.json`.
 *
 * @throws CliError when there are no results, or the page cannot be written.
 */
export async function writeReport(command: ReportCommand, context: TriageContext): Promise<number> {
  const { cwd, stdout, stderr } = context;
  if (command.file === null) {
    stdout.write(await pageOfJournal(command, context));
    return 0;
  }
  const inputPath = inputOf({ path: resolve(cwd, command.file) });
  const results = findResults(inputPath);
  const runs = await readRuns({ ...command, file: command.file }, context);
  const page = reportPage(await readResults(results), runs);
  const path = toOutputPath(inputPath).replace(/\.json$/, ".html");
  await writeWholeFile(path, [page]).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Make room there and run again.");
  });
  stderr.write(printable`Wrote ${path}, from ${results.path}\n`);
  return 0;
}

/** Returns the page about the results that a journal has, where no input file is named. */
async function pageOfJournal(command: ReportCommand, context: TriageContext): Promise<string> {
  return await withResults(command, context, async (results) => {
    const { info, facts } = results;
    const held: TriageRecord[] = [];
    for await (const record of recordsOf(results)) held.push(record);
    return reportPage(held, info === null ? facts : [factsOf(info)]);
  });
}

async function readRuns(
  command: ReportCommand & { readonly file: string },
  context: TriageContext,
): Promise<RunFacts[]> {
  const place = await needJournalPlace(command, context);
  if (place.kind === "postgres") {
    const { url } = place;
    const all = await withRuns({ url, open: context.openRuns, supervises: false }, (runs) =>
      runs.list(),
    );
    return all.filter(({ name }) => name === basename(command.file)).map(factsOf);
  }
  return existsSync(place.path) ? await readJournal(place.path, (journal) => journal.runs()) : [];
}

function factsOf(info: RunInfo): RunFacts {
  const { setup, records, asked, failed, inputTokens, costUsd, createdAt, finishedAt } = info;
  const endedAt = finishedAt ?? new Date();
  return {
    finishedAt: endedAt.toISOString(),
    wire: setup.wire,
    modelId: setup.modelId,
    mails: records,
    answered: asked,
    failed,
    inputTokens,
    costUsd,
    elapsedMs: endedAt.getTime() - createdAt.getTime(),
  };
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
  const content = await readTextFile(path, "Run triage on the file again.");
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

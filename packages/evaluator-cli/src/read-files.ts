import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import {
  AnswerTable,
  CalibrationInputError,
  type InputRecord,
} from "evaluator-calibration/reports";
import {
  type CliContext,
  CliError,
  createProgress,
  isDatabaseUrl,
  printable,
  toFileError,
  UsageError,
} from "evaluator-kit";
import { readTable, TableError } from "evaluator-runs/table";
import type { AnsweredEntry, UnansweredEntry } from "evaluator-runs";
import { firstAddress, openCatalog, openRuns, openTransport } from "evaluator-runs/commands";

import { tableSource } from "./records/table-source.ts";

/** Returns the names after `--answers`, then the words without an option. */
export function listAnswerFiles(givenNames: readonly string[] = [], moreNames: readonly string[]) {
  if (givenNames.length > 0) return [...givenNames, ...moreNames];
  throw new UsageError("--answers is missing: a journal, decision log or NDJSON.");
}

/** Reads answers of journals, decision logs and lines of JSON, in any mix. */
export async function readAnswers(
  fileNames: readonly string[],
  options: ConstructorParameters<typeof AnswerTable>[0],
  context: CliContext,
) {
  const table = new AnswerTable(options);
  const files: Awaited<ReturnType<typeof readRecords>>[] = [];
  const journalReaders: JournalReader[] = [];
  for (const fileName of fileNames) {
    const readJournal = await openJournalReader(fileName, context);
    if (readJournal === null) {
      files.push(
        await readRecords(fileName, context, (record) => table.addRecord(record, fileName)),
      );
    } else {
      const sha256 = createHash("sha256");
      // The name of a database may hold a password.
      const shownName = isDatabaseUrl(fileName) ? "PostgreSQL" : fileName;
      const progress = createProgress(context);
      let recordCount = 0;
      await readJournal((entry) => {
        recordCount += 1;
        progress.show(
          () => printable`${shownName}: records read: ${recordCount.toLocaleString("en")}`,
        );
        if (entry.evaluation === null) table.addFailed(entry.id);
        else {
          const wire = firstAddress(entry.service.address);
          table.addEvaluation({ ...entry, wire }, { file: shownName });
        }
        sha256.update(JSON.stringify([entry.id, entry.evaluation?.answers]));
      });
      progress.end();
      journalReaders.push(readJournal);
      files.push({ name: shownName, sha256: sha256.digest("hex") });
    }
  }
  return {
    table,
    files,
    /** Returns the text of some records by id, one line each, if it is known. */
    textsOf: async (recordIds: ReadonlySet<string>): Promise<Readonly<Record<string, string>>> => {
      const textEntries: [string, string][] = [];
      for (const readJournal of journalReaders) {
        await readJournal((entry) => {
          if ("state" in entry && recordIds.has(entry.id))
            textEntries.push([entry.id, describeState(entry.state)]);
        });
      }
      return Object.fromEntries(textEntries);
    },
  };
}

/** @throws CliError if no record has an answer. */
export function checkAnswered({ allQuestions }: AnswerTable, fileNames: readonly string[]): void {
  if (allQuestions.size > 0) return;
  const shownNames = fileNames.map((name) =>
    isDatabaseUrl(name) ? "the run in PostgreSQL" : name,
  );
  throw new CliError(printable`No answer is in ${shownNames.join(", ")}; start a run first.`);
}

/** Returns the models that answered. */
export function listModelIds(columns: AnswerTable["columns"]): string[] {
  return columns.flatMap(({ source }) => source.modelId ?? []);
}

type JournalReader = (take: TakeEntry) => Promise<void>;

/** Returns a function that reads a journal in a file or a database, or null for another file. */
export async function openJournalReader(
  fileName: string,
  context: CliContext,
): Promise<JournalReader | null> {
  if (isDatabaseUrl(fileName)) return (takeEntry) => readRun(fileName, context, takeEntry);
  const { journal, run } = existsSync(resolve(context.cwd, fileName))
    ? { journal: fileName, run: {} }
    : splitRun(fileName);
  const journalPath = resolve(context.cwd, journal);
  if (!(await isDatabase(journalPath))) return null;
  // Loaded for a journal alone, like withResults.
  const { readEntries } = await import("evaluator-runs");
  return async (takeEntry) => {
    for (const entry of readEntries(journalPath, run)) takeEntry(entry);
  };
}

/** Returns the texts of a state in one line. */
function describeState(state: unknown): string {
  if (typeof state !== "object" || state === null) return String(state);
  return Object.values(state)
    .filter((part) => typeof part === "string")
    .join(" · ");
}

/** Returns whether a file is a SQLite database. @throws CliError if it cannot be read. */
async function isDatabase(filePath: string): Promise<boolean> {
  try {
    return (await text(createReadStream(filePath, { end: 15 }))) === "SQLite format 3\u0000";
  } catch (error) {
    throw toFileError(error, `read ${filePath}`);
  }
}

/** Streams a file of JSON or CSV record by record; returns its name and hash. */
export async function readRecords(
  fileName: string,
  { cwd, clock, stderr, signal }: CliContext,
  takeRecord: (record: InputRecord) => void,
) {
  const filePath = resolve(cwd, fileName);
  const sha256 = createHash("sha256");
  const fileSize = (await stat(filePath).catch(() => null))?.size ?? 0;
  const progress = createProgress({ stderr, clock });
  let [recordCount, byteCount] = [0, 0];
  async function* readChunks(): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(filePath, { signal }) as AsyncIterable<Buffer>) {
      sha256.update(chunk);
      byteCount += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const records of readTable(readChunks())) {
      for (const record of records) {
        if ("problem" in record) throw new TableError(record.line, record.problem);
        takeRecord(record);
        recordCount += 1;
      }
      progress.show(() => {
        const shareText = fileSize === 0 ? "" : `, ${Math.floor((100 * byteCount) / fileSize)} %`;
        return printable`${fileName}: records read: ${recordCount.toLocaleString("en")}${shareText}`;
      });
    }
  } catch (error) {
    if (error instanceof CliError) throw toInputError(error, fileName);
    throw toFileError(error, `read ${filePath}`);
  } finally {
    progress.end();
  }
  return { name: fileName, sha256: sha256.digest("hex") };
}

function toInputError(error: CliError, file: string): CalibrationInputError {
  return error instanceof TableError
    ? new CalibrationInputError({ file, line: error.line }, error.problem)
    : new CalibrationInputError({ file }, error.message);
}

/** Returns the fields of a record; none if it is not an object. */
export function listFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Reads a file of question id to question, if one is named. @throws CliError with each problem. */
export async function readQuestionsFile(name: string | undefined, { cwd }: CliContext) {
  if (name === undefined) return null;
  // Loaded for a file alone.
  const { readQuestions } = await import("evaluator-runs/source");
  return await readQuestions(resolve(cwd, name), null);
}

/** Takes a record of a journal. */
type TakeEntry = (entry: AnsweredEntry | UnansweredEntry) => void;

/** Returns the journal of a name, and its run, which a name such as `inbox.triage.sqlite#3` ends with. */
function splitRun(journalName: string): { journal: string; run: { readonly run?: number } } {
  const [, journal = journalName, run] = /^(.*)#(\d+)$/s.exec(journalName) ?? [];
  return { journal, run: run === undefined ? {} : { run: Number(run) } };
}

/** Reads the run of a database that its URL ends with, as in `#3`, else the newest, record by record. */
async function readRun(
  databaseUrl: string,
  context: CliContext,
  takeEntry: TakeEntry,
): Promise<void> {
  const { journal, run } = splitRun(databaseUrl);
  const { withResults } = await import("evaluator-runs/results");
  const services = { openCatalog, openRuns, openTransport };
  const programContext = { ...services, source: tableSource, ...context };
  await withResults({ journal, ...run }, programContext, async ({ rows, questions, info }) => {
    const service = { address: info.setup.wire, modelId: info.setup.modelId };
    for await (const { input, kept: evaluation } of rows) {
      const { id, state } = input;
      if (evaluation === null) takeEntry({ id, evaluation });
      else takeEntry({ id, state, questions, service, evaluation });
    }
  });
}

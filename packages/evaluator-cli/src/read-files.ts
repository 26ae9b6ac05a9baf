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
  printable,
  toFileError,
  UsageError,
} from "evaluator-kit";
import { readTable, TableError } from "evaluator-runs/table";
import type { AnsweredEntry, UnansweredEntry } from "evaluator-runs";
import {
  firstAddress,
  isDatabaseUrl,
  openCatalog,
  openRuns,
  openTransport,
} from "evaluator-runs/commands";

import { tableSource } from "./records/table-source.ts";

/** Returns the names after `--answers`, then the words without an option. */
export function answerNames(givenNames: readonly string[] = [], more: readonly string[]) {
  if (givenNames.length > 0) return [...givenNames, ...more];
  throw new UsageError("--answers is missing: a journal, a decision log, or lines of JSON.");
}

/** Reads answers of journals, decision logs and lines of JSON, in any mix. */
export async function readAnswers(
  names: readonly string[],
  options: ConstructorParameters<typeof AnswerTable>[0],
  context: CliContext,
) {
  const table = new AnswerTable(options);
  const files: Awaited<ReturnType<typeof readRecords>>[] = [];
  const journals: JournalReader[] = [];
  for (const name of names) {
    const read = await journalReader(name, context);
    if (read === null) {
      files.push(await readRecords(name, context, (record) => table.addRecord(record, name)));
    } else {
      const sha256 = createHash("sha256");
      // The name of a database may hold a password.
      const file = isDatabaseUrl(name) ? "PostgreSQL" : name;
      const progress = createProgress(context);
      let count = 0;
      await read((entry) => {
        count += 1;
        progress.show(() => printable`${file}: records read: ${count.toLocaleString("en")}`);
        if (entry.evaluation === null) table.addFailed(entry.id);
        else {
          const wire = firstAddress(entry.service.address);
          table.addEvaluation({ ...entry, wire }, { file });
        }
        sha256.update(JSON.stringify([entry.id, entry.evaluation?.answers]));
      });
      progress.end();
      journals.push(read);
      files.push({ name: file, sha256: sha256.digest("hex") });
    }
  }
  return {
    table,
    files,
    /** Returns the text of some records by id, one line each, if it is known. */
    textsOf: async (ids: ReadonlySet<string>): Promise<Readonly<Record<string, string>>> => {
      const texts: [string, string][] = [];
      for (const read of journals) {
        await read((entry) => {
          if ("state" in entry && ids.has(entry.id))
            texts.push([entry.id, describeState(entry.state)]);
        });
      }
      return Object.fromEntries(texts);
    },
  };
}

/** @throws CliError if no record has an answer. */
export function checkAnswered({ allQuestions }: AnswerTable, names: readonly string[]): void {
  if (allQuestions.size > 0) return;
  const files = names.map((name) => (isDatabaseUrl(name) ? "the run in PostgreSQL" : name));
  throw new CliError(printable`No answer is in ${files.join(", ")}; start a run first.`);
}

/** Returns the models that answered. */
export function modelsOf(columns: AnswerTable["columns"]): string[] {
  return columns.flatMap(({ source }) => source.modelId ?? []);
}

type JournalReader = (take: TakeEntry) => Promise<void>;

/** Returns a function that reads a journal in a file or a database, or null for another file. */
export async function journalReader(
  name: string,
  context: CliContext,
): Promise<JournalReader | null> {
  if (isDatabaseUrl(name)) return (take) => readRun(name, context, take);
  const { journal, run } = existsSync(resolve(context.cwd, name))
    ? { journal: name, run: {} }
    : splitRun(name);
  const path = resolve(context.cwd, journal);
  if (!(await isDatabase(path))) return null;
  // Loaded for a journal alone, like withResults.
  const { readEntries } = await import("evaluator-runs");
  return async (take) => {
    for (const entry of readEntries(path, run)) take(entry);
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
async function isDatabase(path: string): Promise<boolean> {
  try {
    return (await text(createReadStream(path, { end: 15 }))) === "SQLite format 3\u0000";
  } catch (error) {
    throw toFileError(error, `read ${path}`);
  }
}

/** Streams a file of JSON or CSV record by record; returns its name and hash. */
export async function readRecords(
  name: string,
  { cwd, clock, stderr, signal }: CliContext,
  take: (record: InputRecord) => void,
) {
  const path = resolve(cwd, name);
  const sha256 = createHash("sha256");
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  const progress = createProgress({ stderr, clock });
  let [count, bytes] = [0, 0];
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
      sha256.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const records of readTable(chunks())) {
      for (const record of records) {
        if ("problem" in record) throw new TableError(record.line, record.problem);
        take(record);
        count += 1;
      }
      progress.show(() => {
        const share = size === 0 ? "" : `, ${Math.floor((100 * bytes) / size)} %`;
        return printable`${name}: records read: ${count.toLocaleString("en")}${share}`;
      });
    }
  } catch (error) {
    if (error instanceof CliError) throw toInputError(error, name);
    throw toFileError(error, `read ${path}`);
  } finally {
    progress.end();
  }
  return { name, sha256: sha256.digest("hex") };
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
function splitRun(name: string): { journal: string; run: { readonly run?: number } } {
  const [, journal = name, run] = /^(.*)#(\d+)$/s.exec(name) ?? [];
  return { journal, run: run === undefined ? {} : { run: Number(run) } };
}

/** Reads the run of a database that its URL ends with, as in `#3`, else the newest, record by record. */
async function readRun(url: string, context: CliContext, take: TakeEntry): Promise<void> {
  const { journal, run } = splitRun(url);
  const { withResults } = await import("evaluator-runs/results");
  const services = { openCatalog, openRuns, openTransport };
  const program = { ...services, source: tableSource, ...context };
  await withResults({ journal, ...run }, program, async ({ rows, questions, info }) => {
    const service = { address: info.setup.wire, modelId: info.setup.modelId };
    for await (const { input, kept: evaluation } of rows) {
      const { id, state } = input;
      if (evaluation === null) take({ id, evaluation });
      else take({ id, state, questions, service, evaluation });
    }
  });
}

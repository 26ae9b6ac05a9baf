import { basename } from "node:path";
import type { CalibrationArtifact } from "evaluator-calibration";
import { CliError, printable } from "evaluator-kit";
import type { JsonObject, JsonValue, Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo, RunRow } from "./postgres/index.ts";
import { readCalibration } from "./calibration.ts";
import type { ExportCommand } from "./options/journal-options.ts";
import type { RecordSource, RunRecord } from "./input/record-source.ts";
import { inputOf, needJournalAddress } from "./journal-address.ts";
import type { JournalReader, MailEnd, MailResult, NewMails } from "./journal/journal-reader.ts";
import type { KeptEvaluation } from "./journal/kept-answer.ts";
import { readJournal } from "./journal/read-journal.ts";
import type { RunFacts } from "./journal/run-facts.ts";
import { toInputPath } from "./output/paths.ts";
import { recordNames, type RecordSetup, resultColumns, toRecord } from "./columns/columns.ts";
import type { ResultRecord } from "./output/write-records.ts";
import { type BaseAnswers, baseAnswersOfDatabase, baseAnswersOfFile } from "./base-answers.ts";
import { withRuns } from "./workers/open-runs.ts";
import { answeredRows, toAnsweredRow } from "./workers/run-records.ts";
import type { ProgramContext } from "./service.ts";

/** What of a journal is read. */
export type ResultsCommand = Pick<ExportCommand, "journal" | "run" | "file" | "calibration"> & {
  /** See `needJournalAddress`. @default false */
  readonly takesFile?: boolean;
  /** Whether the rows come in the order of the input, for which a file is read. @default true */
  readonly isOrdered?: boolean;
};

/** A mail of a run, and how it ended. */
export interface ResultRow {
  readonly input: RunRecord;
  /** As it is written. */
  readonly record: ResultRecord;
  /** The answer as it came; null without one. */
  readonly kept: KeptEvaluation | null;
  /** Whether it was refused as too long; not known of a run in PostgreSQL. */
  readonly isRefused?: boolean;
}

/** The results of a run, one mail at a time. */
export interface RunResults {
  /** They can be gone through once. */
  readonly rows: AsyncIterable<ResultRow>;
  readonly source: RecordSource;
  readonly questions: Questions;
  readonly columns: RecordSetup["columns"];
  /** What the records were recalibrated with; null for as they came. */
  readonly calibration: CalibrationArtifact | null;
  /** Returns the mails that no run before had; null where there are none. */
  readonly newMails: () => Promise<NewMails | null>;
  /** Opens the answers about the contract's four fields of a mail alone. */
  readonly baseAnswers: () => Promise<BaseAnswers>;
  /** Returns the names of all fields, in order; goes through a file once to see whether one is `error`. */
  readonly names: () => Promise<readonly string[]>;
  /** The run in PostgreSQL; null for a journal in a file. */
  readonly info: RunInfo | null;
  /** What the runs of a journal in a file came to. */
  readonly facts: RunFacts[];
  /** The database of a journal in PostgreSQL; null for one in a file. */
  readonly database: ResultDatabase | null;
}

/** The database of a run, and how its rows become those of the results. */
export interface ResultDatabase {
  readonly runs: PostgresRuns;
  readonly run: number;
  readonly toRow: (row: RunRow) => ResultRow;
}

/** Reads the results of a run, as long as something is done with them. */
export async function withResults<TResult>(
  command: ResultsCommand,
  context: ProgramContext,
  use: (results: RunResults) => Promise<TResult>,
): Promise<TResult> {
  const address = await needJournalAddress(command, context);
  if (address.kind === "sqlite") {
    return await readJournal(address.path, async (journal) =>
      use(
        await (command.isOrdered === false
          ? keptResults(journal, inputOf(address), { command, context })
          : fileResults(journal, inputOf(address), { command, context })),
      ),
    );
  }
  const { url } = address;
  return await withRuns({ url, open: context.openRuns, supervises: false }, async (runs) =>
    use(await databaseResults(runs, command, context)),
  );
}

async function databaseResults(
  runs: PostgresRuns,
  command: ResultsCommand,
  context: ProgramContext,
): Promise<RunResults> {
  const info = await findRun(runs, command);
  const { source } = context;
  const questions = JSON.parse(info.setup.questions) as Questions;
  const setup = await setupOf(questions, command.calibration ?? null, context);
  const rows = answeredRows(runs, info, setup);
  const toRow = (row: RunRow) => toAnsweredRow(row, setup);
  const database = { runs, run: info.run, toRow };
  const names = async () => recordNames(setup, info.answered < info.records);
  const newMails = async () => await runs.newIds(info);
  const baseAnswers = async () => await baseAnswersOfDatabase(runs, info, source);
  return { ...setup, rows, names, newMails, baseAnswers, info, facts: [], database };
}

async function findRun(runs: PostgresRuns, { run, file }: ResultsCommand): Promise<RunInfo> {
  if (run !== undefined) return await runs.get(run);
  const all = await runs.list();
  const name = file === undefined ? null : basename(toInputPath(file, "."));
  const info = all.findLast((info) => name === null || info.name === name);
  if (info !== undefined) return info;
  throw new CliError(
    name === null
      ? "There is no run in this database yet."
      : printable`There is no run about ${name} in this database; run triage on the file first.`,
  );
}

/** Reads the results from the journal alone, in no order, which takes a third of the time. */
async function keptResults(
  journal: JournalReader,
  inputPath: string,
  { command, context }: { command: ResultsCommand; context: ProgramContext },
): Promise<RunResults> {
  const setup = await newestSetup(journal, inputPath, { command, context });
  const rows = async function* rows(): AsyncGenerator<ResultRow> {
    const unknown = new Map<string, MailResult>();
    for (const end of journal.results(setup)) {
      if (end.state === null) unknown.set(end.id, end);
      else {
        const { id, state, note } = end;
        yield new LazyRow({ id, state: state as JsonObject, source: note }, end, setup);
      }
    }
    // Of a mail without an answer the journal has nothing but its id.
    if (unknown.size === 0) return;
    const { signal, source } = context;
    const input = await source.open(inputPath, { skipInvalid: true, signal });
    for await (const { record } of input.records()) {
      const end = unknown.get(record.id);
      if (end !== undefined) yield new LazyRow(record, end, setup);
    }
  };
  const names = async () => recordNames(setup, true);
  return { ...setup, rows: rows(), names };
}

/** A row whose record is made when somebody wants it, and once. */
class LazyRow implements ResultRow {
  readonly input: RunRecord;
  readonly kept: KeptEvaluation | null;
  readonly isRefused: boolean;
  readonly #end: MailEnd;
  readonly #setup: RecordSetup;
  #record: ResultRecord | null = null;

  constructor(input: RunRecord, end: MailEnd, setup: RecordSetup) {
    this.input = input;
    this.kept = end.evaluation;
    this.isRefused = end.isRefused;
    this.#end = end;
    this.#setup = setup;
  }

  get record(): ResultRecord {
    return (this.#record ??= toRecord(this.input, this.#end, this.#setup));
  }
}

async function newestSetup(
  journal: JournalReader,
  inputPath: string,
  { command, context }: { command: ResultsCommand; context: ProgramContext },
) {
  const newest = journal.newestRun();
  if (newest === null) throw new CliError(printable`No run has asked yet about ${inputPath}.`);
  const file = command.calibration ?? newest.begin?.options.calibration ?? null;
  const setup = await setupOf(newest.questions, file, context);
  const kept = { info: null, facts: journal.runs(), database: null };
  const newMails = async () => journal.newMails();
  const baseAnswers = async () => baseAnswersOfFile(journal, newest);
  const { service, begin } = newest;
  return { ...setup, ...kept, newMails, baseAnswers, service, most: begin?.mails };
}

async function fileResults(
  journal: JournalReader,
  inputPath: string,
  { command, context }: { command: ResultsCommand; context: ProgramContext },
): Promise<RunResults> {
  const setup = await newestSetup(journal, inputPath, { command, context });
  const { questions, most } = setup;
  const { signal, source } = context;
  const input = await source.open(inputPath, { skipInvalid: true, signal });
  const endOf = (record: RunRecord): MailEnd => {
    const end = journal.endOf(record.id, questions);
    if (end.evaluation === null || isAbout(record, end.state)) return end;
    return {
      state: null,
      evaluation: null,
      error: `The ${source.word} has changed since it was asked about; run again.`,
      isRefused: false,
    };
  };
  const rows = async function* rows(): AsyncGenerator<ResultRow> {
    for await (const { record } of input.records(most)) {
      yield new LazyRow(record, endOf(record), setup);
    }
  };
  const names = async () => {
    for await (const { record } of input.records(most)) {
      if (endOf(record).evaluation === null) return recordNames(setup, true);
    }
    return recordNames(setup, false);
  };
  return { ...setup, rows: rows(), names };
}

// A state has more than these keys where a run was asked to add some.
function isAbout(record: RunRecord, state: JsonValue): boolean {
  if (typeof state !== "object" || state === null) return false;
  const read = new Map(Object.entries(state));
  return Object.entries(record.state).every(([key, value]) => read.get(key) === value);
}

async function setupOf(questions: Questions, file: string | null, context: ProgramContext) {
  const calibration = file === null ? null : await readCalibration(file, questions, context);
  const { source } = context;
  const columns = resultColumns(source.columns, questions, calibration);
  return { source, questions, calibration, columns };
}

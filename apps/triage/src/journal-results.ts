import { type CliContext, CliError, printable } from "evaluator-cli-kit";
import type { JsonValue, Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo, RunRow } from "evaluator-postgres";
import { readCalibration } from "./calibration.ts";
import type { ExportCommand } from "./commands.ts";
import type { Mail } from "./input/mail.ts";
import { MailFile } from "./input/mail-file.ts";
import { inputOf, needJournalPlace } from "./journal-place.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import type { KeptEvaluation } from "./journal/kept-answer.ts";
import { readJournal } from "./journal/read-journal.ts";
import type { RunFacts } from "./journal/run-facts.ts";
import { recordNames, toRecord } from "./output/triage-record.ts";
import type { TriageRecord } from "./output/write-records.ts";
import { withRuns } from "./postgres/open-runs.ts";
import { answeredRows, toAnsweredRow } from "./postgres/run-records.ts";
import { type AnswerField, answerFields } from "./questions/answer-fields.ts";
import type { TriageContext } from "./service.ts";
import { toState } from "./state.ts";

/** What of a journal is read. */
export type ResultsCommand = Pick<ExportCommand, "journal" | "run" | "file"> & {
  readonly name: string;
  readonly calibration?: string | null;
};

/** A mail of a run, and how it ended. */
export interface ResultRow {
  readonly mail: Mail;
  /** As it is written. */
  readonly record: TriageRecord;
  /** The answer as it came; null without one. */
  readonly kept: KeptEvaluation | null;
}

/** The results of a run, one mail at a time. */
export interface RunResults {
  /** In the order of the input; they can be gone through once. */
  readonly rows: AsyncIterable<ResultRow>;
  readonly questions: Questions;
  readonly fields: readonly AnswerField[];
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

/** Returns the records of results, one at a time. */
export async function* recordsOf({
  rows,
}: Pick<RunResults, "rows">): AsyncGenerator<TriageRecord, undefined> {
  for await (const { record } of rows) yield record;
}

/** Reads the results of a run, as long as something is done with them. */
export async function withResults<TResult>(
  command: ResultsCommand,
  context: TriageContext,
  use: (results: RunResults) => Promise<TResult>,
): Promise<TResult> {
  const place = await needJournalPlace(command, context);
  if (place.kind === "sqlite") {
    return await readJournal(place.path, async (journal) =>
      use(await fileResults(journal, inputOf(place), { command, context })),
    );
  }
  const { url } = place;
  return await withRuns({ url, open: context.openRuns, supervises: false }, async (runs) =>
    use(await databaseResults(runs, command, context)),
  );
}

async function databaseResults(
  runs: PostgresRuns,
  command: ResultsCommand,
  context: TriageContext,
): Promise<RunResults> {
  const info = command.run === null ? (await runs.list()).at(-1) : await runs.get(command.run);
  if (info === undefined) throw new CliError("There is no run in this database yet.");
  const { questions, fields, calibration } = await setupOf(
    JSON.parse(info.setup.questions) as Questions,
    command.calibration ?? null,
    context,
  );
  const setup = { questions, fields, calibration };
  const rows = answeredRows(runs, info, setup);
  const toRow = (row: RunRow) => toAnsweredRow(row, setup);
  const database = { runs, run: info.run, toRow };
  const names = async () => recordNames(fields, info.answered < info.records);
  return { rows, questions, fields, names, info, facts: [], database };
}

async function fileResults(
  journal: JournalReader,
  inputPath: string,
  { command, context }: { command: ResultsCommand; context: CliContext },
): Promise<RunResults> {
  const newest = journal.newestRun();
  if (newest === null) throw new CliError(printable`No run has asked yet about ${inputPath}.`);
  const { signal } = context;
  const input = await MailFile.open(inputPath, { skipInvalid: true, signal });
  const file = command.calibration ?? newest.begin?.options.calibration ?? null;
  const { questions, fields, calibration } = await setupOf(newest.questions, file, context);
  const most = newest.begin?.mails;
  const endOf = (mail: Mail) => {
    const end = journal.endOf(mail.id, questions);
    if (end.evaluation === null || isAbout(mail, end.state)) return end;
    return { evaluation: null, error: "The mail has changed since it was asked about; run again." };
  };
  const rows = async function* rows(): AsyncGenerator<ResultRow> {
    for await (const { mail } of input.mails(most)) {
      const end = endOf(mail);
      yield { mail, record: toRecord(mail, end, { fields, calibration }), kept: end.evaluation };
    }
  };
  const names = async () => {
    for await (const { mail } of input.mails(most)) {
      if (endOf(mail).evaluation === null) return recordNames(fields, true);
    }
    return recordNames(fields, false);
  };
  const facts = journal.runs();
  return { rows: rows(), questions, fields, names, info: null, facts, database: null };
}

// A state has more than these keys where a run was asked to add some.
function isAbout(mail: Mail, state: JsonValue): boolean {
  if (typeof state !== "object" || state === null) return false;
  const read = new Map(Object.entries(state));
  return Object.entries(toState(mail)).every(([key, value]) => read.get(key) === value);
}

async function setupOf(questions: Questions, file: string | null, context: CliContext) {
  const calibration = file === null ? null : await readCalibration(file, questions, context);
  return { questions, calibration, fields: answerFields(questions, calibration) };
}

import { setTimeout as nextTurn } from "node:timers/promises";
import { type CliContext, CliError, printable } from "evaluator-cli-kit";
import type { Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo } from "evaluator-postgres";
import type { ExportCommand } from "./commands.ts";
import { calibratedAnswers, readCalibration } from "./calibration.ts";
import { MailFile } from "./input/mail-file.ts";
import { inputOf, needJournalPlace } from "./journal-place.ts";
import { type JournalReader, readJournal, type RunFacts } from "./journal/journal-reader.ts";
import { recordNames, toFailedRecord, toTriageRecord } from "./output/triage-record.ts";
import { formatRecords, type Records, type TriageRecord } from "./output/write-records.ts";
import { withRuns } from "./postgres/open-runs.ts";
import { answeredRows } from "./postgres/run-records.ts";
import { answerFields } from "./questions/answer-fields.ts";
import type { TriageContext } from "./service.ts";

/** What of a journal is read. */
export type ResultsCommand = Pick<ExportCommand, "journal" | "run"> & {
  readonly calibration?: string | null;
};

/** The results of a run, one record at a time. */
export interface RunResults {
  readonly records: Records;
  /** The names of all fields, in order. */
  readonly names: readonly string[];
  /** The run in PostgreSQL; null for a journal in a file. */
  readonly info: RunInfo | null;
  /** What the runs of a journal in a file came to. */
  readonly facts: RunFacts[];
}

/**
 * Prints the results of a run in the order of its input, whatever it has come to so far; returns the
 * exit code, 0 or 2 when some have no answer.
 *
 * @throws CliError when there is no such run, or its journal cannot be used.
 */
export async function exportResults(
  command: ExportCommand,
  context: TriageContext,
): Promise<number> {
  return await withResults(command, context, async ({ records, names }) => {
    let failed = 0;
    const counted = async function* counted(): AsyncGenerator<TriageRecord> {
      for await (const record of records) {
        failed += Number(record["error"] !== undefined);
        yield record;
      }
    };
    const { format } = command;
    for await (const piece of inPieces(formatRecords(counted(), { format, names }))) {
      context.signal.throwIfAborted();
      // A slow reader of a pipe gets no more than it takes.
      if (context.stdout.write(piece) === false) await drained(context);
    }
    return failed > 0 ? 2 : 0;
  });
}

const PIECE_LENGTH = 65_536;

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

async function drained({ stdout }: CliContext): Promise<void> {
  const stream = stdout as Partial<NodeJS.WriteStream>;
  while (stream.writableNeedDrain === true && stream.destroyed !== true) await nextTurn(1);
}

/** Reads the results of a run, as long as something is done with them. */
export async function withResults<TResult>(
  command: ResultsCommand,
  context: TriageContext,
  use: (results: RunResults) => Promise<TResult>,
): Promise<TResult> {
  const place = needJournalPlace(command, context);
  if (place.kind === "sqlite") {
    if (command.run !== null) throw new CliError("--run belongs to a journal in PostgreSQL.");
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
  const { questions, fields, calibration } = await setupOf(info.setup.questions, command, context);
  const records = async function* records(): AsyncGenerator<TriageRecord> {
    const rows = answeredRows(runs, info, { questions, fields, calibration });
    for await (const { record } of rows) yield record;
  };
  const names = recordNames(fields, info.answered < info.records);
  return { records: records(), names, info, facts: [] };
}

async function fileResults(
  journal: JournalReader,
  inputPath: string,
  { command, context }: { command: ResultsCommand; context: CliContext },
): Promise<RunResults> {
  const input = await MailFile.open(inputPath, { skipInvalid: true, signal: context.signal });
  const setup = journal.newestSetup();
  if (setup === null) throw new CliError(printable`There is no answer yet about ${inputPath}.`);
  const { questions, fields, calibration } = await setupOf(setup, command, context);
  const records = async function* records(): AsyncGenerator<TriageRecord> {
    for await (const { mail } of input.mails()) {
      const { evaluation, error } = journal.endOf(mail.id, questions);
      yield evaluation === null
        ? toFailedRecord(mail, error ?? "The answer is not in the journal; run again.", fields)
        : toTriageRecord(mail, calibratedAnswers(evaluation, calibration), fields);
    }
  };
  let hasErrors = false;
  for await (const { mail } of input.mails()) {
    hasErrors ||= journal.endOf(mail.id, questions).evaluation === null;
    if (hasErrors) break;
  }
  const names = recordNames(fields, hasErrors);
  return { records: records(), names, info: null, facts: journal.runs() };
}

async function setupOf(
  text: string,
  { calibration: file = null }: ResultsCommand,
  context: CliContext,
) {
  const questions = JSON.parse(text) as Questions;
  const calibration = file === null ? null : await readCalibration(file, questions, context);
  return { questions, calibration, fields: answerFields(questions, calibration) };
}

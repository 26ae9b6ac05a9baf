import { basename } from "node:path";
import { CliError, printable } from "evaluator-kit";
import type { JsonObject, JsonValue } from "evaluator-client";
import type { QueryResult, RunQuery, RunRow } from "./store/run-query.ts";
import type { RunInfo, RunStore } from "./store/run-store.ts";
import type { ExportCommand } from "./options.ts";
import type { RecordInput, RunRecord } from "./input/record-source.ts";
import { inputOf, needJournalAddress } from "./journal-address.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import type { NewRecords } from "./store/run-store.ts";
import { databaseFactsSchema, type RunFacts, type StepFacts } from "./run-facts.ts";
import { RunTotals, stepFacts } from "./money/totals.ts";
import { readJournal } from "./journal/read-journal.ts";
import { toInputPath } from "./output/paths.ts";
import {
  readSetup,
  recordNames,
  type RecordSetup,
  type ResultRow,
  toRecord,
} from "./columns/columns.ts";
import { toAnsweredRow, withRuns } from "./workers/open-runs.ts";
import type { ProgramContext } from "./service.ts";
import { parseKeptQuestions } from "./journal/kept-questions.ts";

/** The part of a journal that is read. */
type ResultsCommand = Pick<ExportCommand, "journal" | "run" | "file" | "calibration"> & {
  /** See `needJournalAddress`. @default false */
  readonly takesFile?: boolean;
  /** Whether the rows are in the order of the input, for which its file is read. @default true */
  readonly isOrdered?: boolean;
};

/** The results of a run. */
export interface RunResults extends Awaited<ReturnType<typeof readSetup>> {
  /** The rows, for one pass. */
  readonly rows: AsyncIterable<ResultRow>;
  /** Returns the records that no run before had; null if there are none. */
  readonly newRecords: () => Promise<NewRecords | null>;
  /** Returns the records that a person put away, each with the day of its return; none in a database. */
  readonly putAway: () => ReadonlyMap<string, string>;
  /** Returns the names of all fields, in order; reads a file once to find out if one is `error`. */
  readonly names: () => Promise<readonly string[]>;
  /** The run in PostgreSQL; null for a journal in a file. */
  readonly info: RunInfo | null;
  /** Returns the complete runs of a journal in a file, or the run of a database. */
  readonly readFacts: () => Promise<RunFacts[]>;
  /** Returns the complete runs of a journal in a file, or all of a database. */
  readonly listRuns: () => Promise<ListedRun[]>;
  /** Runs a query in the database of the run; null for a journal in a file. */
  readonly ask:
    | ((query: ResultQuery, use: (rows: QueryResult) => Promise<void>) => Promise<void>)
    | null;
}

/** A run of a journal. */
type ListedRun = Omit<RunFacts, "finishedAt" | "elapsedMs"> & {
  readonly run: number;
  readonly name: string;
  readonly state: string;
  readonly finishedAt: string | null;
  readonly elapsedMs: number | null;
};

type ResultQuery = Omit<RunQuery, "run" | "cellsOf"> & {
  readonly cellsOf: (row: ResultRow) => ReturnType<RunQuery["cellsOf"]>;
};

/** Opens the results of a run, and closes them after use. */
export async function withResults<TResult>(
  command: ResultsCommand,
  context: ProgramContext,
  use: (results: RunResults) => Promise<TResult>,
): Promise<TResult> {
  const address = await needJournalAddress(command, context);
  if (address.kind === "postgres") {
    return await withRuns(address.url, context, async (runs) =>
      use(await databaseResults(runs, command, context)),
    );
  }
  return await readJournal(address.path, async (journal) =>
    use(await fileResults(journal, inputOf(address, context.source), { command, context })),
  );
}

async function databaseResults(
  runs: RunStore,
  command: ResultsCommand,
  context: ProgramContext,
): Promise<RunResults> {
  const info = await findRun(runs, command);
  const questions = parseKeptQuestions(info.setup.questions);
  const setup = await readSetup(questions, command.calibration, context);
  const toRow = (row: RunRow) => toAnsweredRow(row, setup);
  const rows = async function* rows(): AsyncGenerator<ResultRow> {
    for await (const row of runs.rows(info.run)) yield toRow(row);
  };
  return {
    ...setup,
    rows: rows(),
    names: async () => recordNames(setup, info.answered < info.records),
    newRecords: async () => await runs.newIds(info),
    putAway: () => new Map<string, string>(),
    info,
    readFacts: async () => [{ ...toFacts(info), ...(await stepsOf(info, runs, toRow)) }],
    listRuns: async () => (await runs.list()).map(toListedRun),
    ask: ({ cellsOf, ...query }, use) =>
      runs.query({ ...query, run: info.run, cellsOf: (row) => cellsOf(toRow(row)) }, use),
  };
}

function toListedRun(info: RunInfo): ListedRun {
  const end = info.finishedAt === null ? { finishedAt: null, elapsedMs: null } : {};
  return { ...toFacts(info), ...end };
}

/** Returns the facts of a run as a journal in a file keeps them; an open run ends now. */
function toFacts({ setup, finishedAt, createdAt, ...run }: RunInfo) {
  const endedAt = finishedAt ?? new Date();
  return {
    ...run,
    costUsd: run.costUsd ?? 0,
    ...(run.costUsd === null && { isUnpriced: true }),
    wire: setup.wire,
    modelId: setup.modelId,
    mails: run.records,
    answered: run.asked,
    finishedAt: endedAt.toISOString(),
    elapsedMs: endedAt.getTime() - createdAt.getTime(),
  };
}

/** Returns what each of two engines answered, by the kept answers that a run asked for; nothing of one alone. */
async function stepsOf(
  { facts, run }: RunInfo,
  runs: RunStore,
  keptIn: (row: RunRow) => Pick<ResultRow, "kept">,
): Promise<{ readonly steps?: StepFacts[] }> {
  const { engines } = databaseFactsSchema.parse(JSON.parse(facts));
  if (engines === undefined) return {};
  const [price = { inputUsdPerMillionTokens: null, source: "" }, next] = engines.map((engine) => {
    return { inputUsdPerMillionTokens: engine.usdPerMillionTokens, source: "the run" };
  });
  const totals = new RunTotals({ ...price, next });
  for await (const row of runs.rows(run)) {
    const { kept } = keptIn(row);
    if (row.isOwn && kept !== null) totals.add({ evaluation: kept });
  }
  const names = engines.map(({ name }) => name);
  return { steps: stepFacts(totals, names) };
}

async function findRun(runs: RunStore, { run, file }: ResultsCommand): Promise<RunInfo> {
  if (run !== undefined) return await runs.get(run);
  const all = await runs.list();
  const name = file === undefined ? null : basename(toInputPath(file, "."));
  const info = all.findLast((info) => name === null || info.name === name);
  if (info !== undefined) return info;
  throw new CliError(
    name === null
      ? "There is no run in this database yet."
      : printable`There is no run about ${name} in this database; start one first.`,
  );
}

async function fileResults(
  journal: JournalReader,
  inputPath: string,
  { command, context }: { command: ResultsCommand; context: ProgramContext },
): Promise<RunResults> {
  const newest = journal.newestRun();
  if (newest === null) throw new CliError(printable`No run has asked yet about ${inputPath}.`);
  const calibration = command.calibration ?? newest.begin?.options.calibration;
  const setup = await readSetup(newest.questions, calibration, context);
  const { signal, source } = context;
  const state = newest.begin?.options ?? {};
  const open = () => source.open(inputPath, { skipInvalid: true, signal, state });
  const { isOrdered = true } = command;
  const input = isOrdered ? await open() : null;
  const part =
    input === null
      ? keptRows(journal.results(newest), open, setup)
      : orderedRows(journal, () => input.records(newest.begin?.mails), setup);
  const facts = journal.runs();
  const name = basename(inputPath);
  return {
    ...setup,
    ...part,
    newRecords: async () => journal.newRecords(),
    putAway: () => journal.putAway(),
    info: null,
    readFacts: async () => facts,
    listRuns: async () =>
      facts.map((fact, index) => Object.assign({ run: index + 1, name, state: "done" }, fact)),
    ask: null,
  };
}

type RecordEnd = ReturnType<JournalReader["endOf"]>;
type FileSetup = Awaited<ReturnType<typeof readSetup>>;

/** Reads the rows from the journal alone, in no order, in a third of the time. */
function keptRows(
  ends: ReturnType<JournalReader["results"]>,
  open: () => Promise<RecordInput>,
  setup: FileSetup,
) {
  const rows = async function* rows(): AsyncGenerator<ResultRow> {
    const unknown = new Map<string, RecordEnd>();
    for (const end of ends) {
      const { id, state, note } = end;
      if (state === null) unknown.set(id, end);
      else yield toRow({ id, state: state as JsonObject, source: note }, end, setup);
    }
    // The journal keeps only the id of a record without an answer.
    if (unknown.size === 0) return;
    for await (const { record } of (await open()).records()) {
      const end = unknown.get(record.id);
      if (end !== undefined) yield toRow(record, end, setup);
    }
  };
  return { rows: rows(), names: async () => recordNames(setup, true) };
}

function orderedRows(
  journal: JournalReader,
  records: () => ReturnType<RecordInput["records"]>,
  setup: FileSetup,
) {
  const error = `The ${setup.source.word} has changed since it was asked about; run again.`;
  const endOf = (record: RunRecord): RecordEnd => {
    const end = journal.endOf(record.id, setup.questions);
    const isCurrent = end.evaluation === null || isAbout(record, end.state);
    return isCurrent ? end : { ...end, evaluation: null, error };
  };
  const rows = async function* rows(): AsyncGenerator<ResultRow> {
    for await (const { record } of records()) yield toRow(record, endOf(record), setup);
  };
  const names = async () => {
    for await (const { record } of records()) {
      if (endOf(record).evaluation === null) return recordNames(setup, true);
    }
    return recordNames(setup, false);
  };
  return { rows: rows(), names };
}

// A state has more than these keys if a run added some.
function isAbout(record: RunRecord, state: JsonValue): boolean {
  if (typeof state !== "object" || state === null) return false;
  const read = new Map(Object.entries(state));
  return Object.entries(record.state).every(([key, value]) => {
    const kept = read.get(key);
    return kept === value || JSON.stringify(kept) === JSON.stringify(value);
  });
}

function toRow(input: RunRecord, end: RecordEnd, setup: RecordSetup): ResultRow {
  let record: ResultRow["record"] | null = null;
  return {
    input,
    kept: end.evaluation,
    keptState: end.state,
    isRefused: end.isRefused,
    get record() {
      return (record ??= toRecord(input, end, setup));
    },
  };
}

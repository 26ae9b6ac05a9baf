import type { QueryResult, RunQuery, RunRow } from "./store/run-query.ts";
import type { NewRecords, RunInfo, StoredRuns } from "./store/stored-runs.ts";
import type { ExportCommand } from "./options.ts";
import { needJournalAddress } from "./journal-address.ts";
import { findRun, withStoredRuns } from "./open-store.ts";
import { type RunFacts, type StepFacts, type StoredFacts, storedFactsSchema } from "./run-facts.ts";
import { RunTotals, stepFacts } from "./money/totals.ts";
import { readSetup, recordNames, type ResultRow } from "./columns/columns.ts";
import { keptIn, toAnsweredRow } from "./workers/open-runs.ts";
import type { ProgramContext } from "./service.ts";
import { parseKeptQuestions } from "./journal/kept-questions.ts";

/** The part of a journal that is read. */
type ResultsCommand = Pick<ExportCommand, "journal" | "run" | "file" | "calibration"> & {
  /** Whether the rows are in the order of the input, for which its file is read. @default true */
  readonly isOrdered?: boolean;
};

/** The results of a run. */
export interface RunResults extends Awaited<ReturnType<typeof readSetup>> {
  /** The rows, for one pass. */
  readonly rows: AsyncIterable<ResultRow>;
  /** Returns the records that no run before had; null if there are none. */
  readonly newRecords: () => Promise<NewRecords | null>;
  /** Returns the records that a person put away, each with the day of its return. */
  readonly away: () => Promise<ReadonlyMap<string, string>>;
  /** Returns the names of all fields, in order; reads a file once to find out if one is `error`. */
  readonly names: () => Promise<readonly string[]>;
  readonly info: RunInfo;
  /** Whether other machines may work on the run, too. */
  readonly isShared: boolean;
  /** Returns the complete runs of a journal in a file up to this one, or the run of a database. */
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
  useResults: (results: RunResults) => Promise<TResult>,
): Promise<TResult> {
  const journalAddress = await needJournalAddress(command, context);
  return await withStoredRuns(journalAddress, context, async (storedRuns) =>
    useResults(await readResults(storedRuns, command, context)),
  );
}

async function readResults(
  runs: StoredRuns,
  command: ResultsCommand,
  context: ProgramContext,
): Promise<RunResults> {
  const { isShared } = runs;
  const info = await findRun(runs, command);
  const questions = parseKeptQuestions(info.setup.questions);
  const { options } = listFacts(info);
  const setup = await readSetup(questions, command.calibration ?? options?.calibration, context);
  const toResultRow = (runRow: RunRow) => toAnsweredRow(runRow, setup);
  const resultRows = async function* resultRows(): AsyncGenerator<ResultRow> {
    for await (const runRow of runs.rows(info.run, command.isOrdered)) yield toResultRow(runRow);
  };
  const hasErrors = async () => {
    if (isShared) return info.answered < info.records;
    for await (const { evaluation } of runs.rows(info.run, command.isOrdered)) {
      if (keptIn(evaluation, questions) === null) return true;
    }
    return false;
  };
  const runQuery = runs.query?.bind(runs);
  return {
    ...setup,
    rows: resultRows(),
    names: async () => recordNames(setup, await hasErrors()),
    newRecords: async () => await runs.newIds(info),
    away: async () => await runs.away(info.name),
    info,
    isShared,
    // A file has the runs about one input; those after an earlier run are nothing of its results.
    readFacts: async () =>
      isShared
        ? [{ ...toFacts(info), ...(await loadSteps(info, runs, toResultRow)) }]
        : (await runs.list()).filter((one) => isDone(one) && one.run <= info.run).map(toFacts),
    listRuns: async () =>
      (await runs.list()).filter((runInfo) => isShared || isDone(runInfo)).map(toListedRun),
    ask:
      runQuery === undefined
        ? null
        : async ({ cellsOf, ...query }, useRows) => {
            const toCells = (runRow: RunRow) => cellsOf(toResultRow(runRow));
            await runQuery({ ...query, run: info.run, cellsOf: toCells }, useRows);
          },
  };
}

function isDone({ state }: RunInfo): boolean {
  return state === "done";
}

function listFacts({ facts }: RunInfo): StoredFacts {
  return storedFactsSchema.parse(JSON.parse(facts));
}

function toListedRun(runInfo: RunInfo): ListedRun {
  const missingEnd = runInfo.finishedAt === null ? { finishedAt: null, elapsedMs: null } : {};
  return { ...toFacts(runInfo), ...missingEnd };
}

/** Returns the facts of a run as a journal in a file keeps them; an open run ends now. */
function toFacts(runInfo: RunInfo) {
  const { setup, finishedAt, createdAt, ...run } = runInfo;
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
    ...listFacts(runInfo).complete,
  };
}

/** Returns what each of two engines answered, by the kept answers that a run asked for; nothing of one alone. */
async function loadSteps(
  runInfo: RunInfo,
  storedRuns: StoredRuns,
  keptIn: (runRow: RunRow) => Pick<ResultRow, "kept">,
): Promise<{ readonly steps?: StepFacts[] }> {
  const { engines } = listFacts(runInfo);
  if (engines === undefined) return {};
  const [price = { inputUsdPerMillionTokens: null, source: "" }, next] = engines.map((engine) => {
    return { inputUsdPerMillionTokens: engine.usdPerMillionTokens, source: "the run" };
  });
  const runTotals = new RunTotals({ ...price, next });
  for await (const runRow of storedRuns.rows(runInfo.run)) {
    const { kept: keptEvaluation } = keptIn(runRow);
    if (runRow.isOwn && keptEvaluation !== null) runTotals.add({ evaluation: keptEvaluation });
  }
  const engineTitles = engines.map(({ name }) => name);
  return { steps: stepFacts(runTotals, engineTitles) };
}

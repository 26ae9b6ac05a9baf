import { systemClock, type TextSink } from "evaluator-kit";
import type { EvaluatorRuntime, Questions, Transport } from "evaluator-client";
import type { RunRecord } from "./input/record-source.ts";
import type { Machine } from "./machine.ts";
import { Journal } from "./journal/journal.ts";
import type { AnsweredEntry, UnansweredEntry } from "./journal/journal-reader.ts";
import { openReader } from "./journal/read-journal.ts";
import { toJournalError } from "./journal/open-journal.ts";
import { askMissing, type RunLimits, toRunFacts } from "./run/ask-calls.ts";
import { type AskedState, planCalls, type PlanInput } from "./run/plan-calls.ts";
import { serviceOf } from "./service.ts";

/** What the records of a journal are asked, and through what. */
export interface JournalSetup {
  readonly questions: Questions;
  readonly transport: Transport;
}

/**
 * Opens a journal for one run, and creates it if there is none. Dispose of it after the run.
 *
 * @param path - A name that ends in `.sqlite`.
 * @throws CliError if another run has it, or it cannot be used.
 */
export function openJournal(
  path: string,
  { questions, transport }: JournalSetup,
  machine: Machine = {},
): Journal {
  return Journal.open(path, { questions, service: serviceOf(transport) }, machine);
}

/** How records are asked about. */
export interface RunOptions extends RunLimits {
  readonly journal: Journal;
  readonly transport: Transport;
  /** Requests at once. @default 1 */
  readonly concurrency?: number;
  /** Requests a minute that the key allows. @default the transport's */
  readonly requestsPerMinute?: number;
  /** The run stops before it costs more, in US dollars. @default no limit */
  readonly maxCostUsd?: number;
  /** The price of a million input tokens, if the service reports no costs. @default unknown */
  readonly usdPerMillionTokens?: number | undefined;
  /** Lets no further call begin; answers on their way are kept for some seconds. */
  readonly signal?: AbortSignal;
  /** Takes lines with the progress, such as `process.stderr`. @default none */
  readonly progress?: TextSink;
}

/** The result of a run. */
export interface RunOutcome {
  readonly records: number;
  /** Records that this run answered. */
  readonly answered: number;
  /** Records that were answered or refused before. */
  readonly skipped: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly costUsd: number;
  /** Whether the run stopped at its budget. */
  readonly isBudgetSpent: boolean;
}

/**
 * Asks about the records that the journal has no answer for; each answer is on the disk before the
 * next call begins, so the same call after a crash goes on.
 *
 * @throws the error that every further call would fail with, such as an `AuthenticationError`.
 * @example
 * const journal = openJournal("tickets.sqlite", { questions, transport });
 * const outcome = await runRecords(tickets, { journal, transport, concurrency: 8 });
 * for (const { id, evaluation } of readAnswers("tickets.sqlite")) console.log(id, evaluation.answers);
 */
export async function runRecords(
  records: PlanInput | readonly ListedRecord[],
  options: RunOptions,
  { clock = systemClock, ...runtime }: EvaluatorRuntime = {},
): Promise<RunOutcome> {
  const {
    journal,
    transport,
    concurrency = 1,
    requestsPerMinute: rate,
    maxCostUsd: maxCost = Number.POSITIVE_INFINITY,
    usdPerMillionTokens = null,
    signal = new AbortController().signal,
    progress: stderr = { write() {} },
    ...limits
  } = options;
  const input = "records" in records ? records : listed(records);
  const run = { limit: Number.POSITIVE_INFINITY, concurrency, maxCost, ...(rate && { rate }) };
  const machine = { ...runtime, clock, stderr, signal, source: { word: "record" } };
  const context = { ...machine, ...journal.setup, run, input, inputPath: "The input", transport };
  const plan = await planCalls(context, journal);
  const price = { inputUsdPerMillionTokens: usdPerMillionTokens, source: "the caller" };
  const outcome = await askMissing(plan, { context, journal, price, limits });
  signal.throwIfAborted();
  const { totals, finalError, isBudgetSpent } = outcome;
  if (finalError !== null) throw finalError;
  const { succeeded: answered, failed, inputTokens, costUsd } = totals;
  if (!isBudgetSpent) journal.addRun(toRunFacts(plan, outcome, context));
  const skipped = plan.count("answered") + plan.count("refused");
  return { records: plan.length, answered, skipped, failed, inputTokens, costUsd, isBudgetSpent };
}

type ListedRecord = Pick<RunRecord<AskedState>, "id" | "state">;

function listed(records: readonly ListedRecord[]): PlanInput {
  return {
    length: records.length,
    async *records() {
      for (const [index, record] of records.entries())
        yield { index, record: { source: null, ...record } };
    },
  };
}

/**
 * Reads the newest answers of a journal, one for each record, also while a run is under way.
 *
 * @throws CliError if the journal is missing or cannot be used.
 */
export function* readAnswers(path: string): Generator<AnsweredEntry> {
  using journal = openReader(path);
  yield* journal.answered();
}

/**
 * Reads all records of a journal, the unanswered included, also while a run is under way; an answer
 * is not compared with its digest.
 *
 * @throws CliError if the journal is missing or cannot be used.
 */
export function* readEntries(path: string): Generator<AnsweredEntry | UnansweredEntry> {
  using journal = openReader(path, { isChecked: false, takesOlder: true });
  try {
    yield* journal.records();
  } catch (error) {
    throw toJournalError(error, path);
  }
}

import { systemClock, type TextSink } from "evaluator-kit";
import {
  ConfigurationError,
  type EvaluatorRuntime,
  InvalidRequestError,
  type Questions,
  type Transport,
} from "evaluator-client";
import { priceProblem } from "evaluator-client/token-price";
import type { RunRecord } from "./input/record-source.ts";
import type { Machine } from "./machine.ts";
import { Journal } from "./sqlite/journal.ts";
import type { AnsweredEntry, UnansweredEntry } from "./sqlite/journal-rows.ts";
import { openReader } from "./sqlite/read-journal.ts";
import { toJournalError } from "./sqlite/open-journal.ts";
import { type RunLimits, toRunFacts, workOnPlan } from "./run/file-worker.ts";
import { type AskedState, planCalls, type PlanInput } from "./run/plan-calls.ts";
import { documentedPrice, type Price, type RunPrice } from "./money/price.ts";
import { type NextEngine, serviceThrough } from "./next-engine.ts";
import { checkSameEngine } from "./service.ts";

/** What the records of a journal are asked, and through what. */
export interface JournalSetup {
  readonly questions: Questions;
  readonly transport: Transport;
  /** Another engine, and when it is asked again, for the unsure answers alone. @default none */
  readonly next?: NextEngine | undefined;
}

/**
 * Opens a journal for one run, and creates it if there is none. Dispose of it after the run.
 *
 * @param path - A name that ends in `.sqlite`.
 * @throws CliError if another run has it, or it cannot be used.
 */
export function openJournal(
  path: string,
  { questions, transport, next }: JournalSetup,
  machine: Machine = {},
): Journal {
  return Journal.open(path, { questions, service: serviceThrough(transport, next) }, machine);
}

/** How records are asked about. */
export interface RunOptions extends RunLimits {
  readonly journal: Journal;
  readonly transport: Transport;
  /** As for {@link openJournal}, with its price if it reports no costs. @default none */
  readonly next?: (NextEngine & { readonly usdPerMillionTokens?: number | undefined }) | undefined;
  /** Requests at once. @default 1 */
  readonly concurrency?: number;
  /** Requests a minute that the key allows. @default the transport's */
  readonly requestsPerMinute?: number;
  /** The run stops before it costs more, in US dollars. @default no limit */
  readonly maxCostUsd?: number;
  /** The price of a million input tokens, if the service reports no costs. @default the documented one */
  readonly usdPerMillionTokens?: number | undefined;
  /** Lets no further call begin; answers on their way are kept for some seconds. */
  readonly signal?: AbortSignal;
  /** Takes lines with the progress, such as `process.stderr`. @default none */
  readonly progress?: TextSink;
}

type PlannedAsking = Pick<Parameters<typeof workOnPlan>[1], "journal" | "price" | "limits">;
type PlannedContext = Parameters<typeof planCalls>[0] & Parameters<typeof workOnPlan>[1]["context"];

/** The result of a run. */
export interface RunOutcome {
  readonly records: number;
  /** Records that this run answered. */
  readonly answered: number;
  /** Records that were answered or refused before. */
  readonly skipped: number;
  readonly failed: number;
  /** Records that the next run asks about, with a higher maximum if this one stopped at its own. */
  readonly notAsked: number;
  readonly inputTokens: number;
  /** With the estimate of attempts that were lost and may be charged for; null if it is not known. */
  readonly costUsd: number | null;
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
    next,
    concurrency = 1,
    requestsPerMinute: rate,
    maxCostUsd: maxCost = Number.POSITIVE_INFINITY,
    usdPerMillionTokens,
    signal = new AbortController().signal,
    progress: stderr = { write() {} },
    ...limits
  } = options;
  checkRunOptions(options);
  const price: RunPrice = {
    ...toPrice(transport, usdPerMillionTokens),
    next: next && toPrice(next.transport, next.usdPerMillionTokens),
  };
  const isKnown = [price, price.next].every((one) => one?.inputUsdPerMillionTokens !== null);
  if (Number.isFinite(maxCost) && !isKnown) {
    rejectRun("maxCostUsd", "needs a price; set usdPerMillionTokens");
  }
  checkSameEngine(
    {
      run: "The journal",
      service: journal.setup.service,
      advice: "give openJournal the same transport.",
    },
    serviceThrough(transport, next),
  );
  const input = "records" in records ? records : listed(records);
  const run = { limit: Number.POSITIVE_INFINITY, concurrency, maxCost, ...(rate && { rate }) };
  const machine = { ...runtime, clock, stderr, signal, source: { word: "record" } };
  const asking = { run, input, inputPath: "The input", transport, next: next ?? null };
  const context = { ...machine, ...journal.setup, ...asking };
  if (busyJournals.has(journal)) {
    const message = "The journal is in use by another runRecords; wait for its end.";
    throw new ConfigurationError(message, { option: "journal" });
  }
  busyJournals.add(journal);
  try {
    return await runPlanned(context, { journal, price, limits });
  } finally {
    busyJournals.delete(journal);
  }
}

async function runPlanned(
  context: PlannedContext,
  { journal, ...asking }: PlannedAsking,
): Promise<RunOutcome> {
  const plan = await planCalls(context, journal);
  const outcome = await workOnPlan(plan, { context, journal, ...asking });
  context.signal.throwIfAborted();
  const { totals, finalError, isBudgetSpent } = outcome;
  if (finalError !== null) throw finalError;
  const { succeeded: answeredCount, failed: failedCount, inputTokens, isUnpriced } = totals;
  const costUsd = isUnpriced ? null : totals.costUsd;
  if (!isBudgetSpent) journal.addRun(toRunFacts(plan, outcome, context));
  const { length: records } = plan;
  const endedRun = {
    records,
    answered: answeredCount,
    skipped: records - plan.open,
    failed: failedCount,
    notAsked: plan.open - answeredCount - failedCount,
  };
  return { ...endedRun, inputTokens, costUsd, isBudgetSpent };
}

function toPrice(transport: Transport, ownUsd: number | undefined): Price {
  if (ownUsd === undefined) return documentedPrice(transport);
  return { inputUsdPerMillionTokens: ownUsd, source: "the caller" };
}

function checkRunOptions(options: RunOptions): void {
  const { maxCostUsd = 0, usdPerMillionTokens = 0, next, transport } = options;
  if (typeof maxCostUsd !== "number" || !(maxCostUsd >= 0))
    rejectRun("maxCostUsd", "is not a number from 0 up");
  const prices = {
    usdPerMillionTokens,
    "next.usdPerMillionTokens": next?.usdPerMillionTokens ?? 0,
    "transport.usdPerMillionTokens": transport.usdPerMillionTokens ?? 0,
    "next.transport.usdPerMillionTokens": next?.transport.usdPerMillionTokens ?? 0,
  };
  for (const [option, usd] of Object.entries(prices)) {
    const problem = priceProblem(usd);
    if (problem !== null) rejectRun(option, problem);
  }
  const { concurrency = 1, failuresAtStart = 1 } = options;
  for (const [option, count] of Object.entries({ concurrency, failuresAtStart })) {
    const isCount = Number.isInteger(count) || count === Infinity;
    if (!isCount || count < 1) rejectRun(option, "is not a whole number from 1 up");
  }
  const { requestsPerMinute = 1 } = options;
  if (!(requestsPerMinute > 0)) rejectRun("requestsPerMinute", "is not a number above 0");
}

function rejectRun(option: string, problem: string): never {
  throw new ConfigurationError(`The option "${option}" ${problem}. Nothing was sent.`, { option });
}

type ListedRecord = Pick<RunRecord<AskedState>, "id" | "state">;

/** The journals of the runs that are under way in this process. */
const busyJournals = new WeakSet<Journal>();

/** Checks the ids of a list, before anything is paid for. @throws InvalidRequestError that names the record */
function listed(records: readonly ListedRecord[]): PlanInput {
  const indices = new Map<unknown, number>();
  for (const [index, { id }] of records.entries()) {
    const first = indices.get(id);
    // SQLite would take two halves of characters for the same id.
    const isText = typeof id === "string" && id !== "" && id.isWellFormed();
    if (isText && first === undefined) indices.set(id, index);
    else {
      const problem = isText
        ? `is also that of the record at index ${first}`
        : "is not text, is empty or is not well-formed";
      const message = `The id of the record at index ${index} ${problem}; give every record its own id.`;
      throw new InvalidRequestError(message, { questionId: null });
    }
  }
  return {
    length: records.length,
    async *records() {
      for (const [index, record] of records.entries())
        // A copy, so that an object that the caller changes later changes no request and no answer's record.
        yield {
          index,
          record: { source: null, id: record.id, state: structuredClone(record.state) },
        };
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
 * @param options - `run`: the run whose records are read, from 1. Default: the records of all runs.
 * @throws CliError if the journal is missing, has no such run or cannot be used.
 */
export function* readEntries(
  path: string,
  { run }: { readonly run?: number } = {},
): Generator<AnsweredEntry | UnansweredEntry> {
  using journal = openReader(path, { isChecked: false, takesOlder: true });
  try {
    yield* (run === undefined ? journal : journal.ofRun(run)).records(false);
  } catch (error) {
    throw toJournalError(error, path);
  }
}

import { CliError, pause } from "evaluator-kit";
import type { EvaluationRequest } from "evaluator-client";
import { toKeptText } from "../journal/kept-answer.ts";
import { Budget, type CallCost } from "../money/budget.ts";
import { findUnpriced, type RunPrice } from "../money/price.ts";
import type { ChunkRecord, RunStore } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import { type CallOutcome, endsRun } from "../run/evaluate-one.ts";
import type { RunContext } from "../run/run-context.ts";
import { untilReached } from "./open-runs.ts";

// Chosen: one statement for so many calls, while little of the run's maximum is held at once.
const CALLS_RESERVED = 16;

/** The part of a run's maximum cost that a chunk has from the database, for a few calls at once. */
export class ChunkBudget extends Budget {
  readonly #options: ChunkBudgetOptions;
  #asking: Promise<unknown> = Promise.resolve();

  /** @param maxUsd - What the chunk may cost before it asks the database; Infinity without a maximum. */
  constructor(maxUsd: number, options: ChunkBudgetOptions) {
    super(maxUsd, options);
    this.#options = options;
  }

  /** Asks the database before further calls, and reserves those in flight: the run has a maximum from now on. */
  async limit(): Promise<void> {
    if (this.maxUsd !== Infinity) return;
    this.maxUsd = 0;
    await this.#ask(0, () => null);
  }

  override async takeRetry(cost: CallCost): Promise<boolean> {
    while (!cost.isEnded) {
      if (this.take(cost) || (await this.#ask(cost.mostUsd, () => this.take(cost)))) return true;
      // Calls and chunks that end have cost less than the most.
      if (!(await this.#options.waitForMoney())) break;
    }
    return false;
  }

  override async reserveCall(request: EvaluationRequest): Promise<CallCost | null> {
    const { dearest } = this.#options;
    this.factor = dearest.factor = Math.max(this.factor, dearest.factor);
    const reservedCallCost = this.reserve(request);
    if (reservedCallCost !== null) return reservedCallCost;
    return await this.#ask(this.mostUsdOf(request), () => this.reserve(request));
  }

  /** Asks the database for more, one after the other: the chunk has what the last reply grants. */
  #ask<TTaken>(mostUsd: number, take: () => TTaken): Promise<TTaken> {
    const askedPromise = this.#asking.then(async () => {
      this.maxUsd = await this.#options.reserveUsd(this.wantedUsd(mostUsd, CALLS_RESERVED));
      return take();
    });
    this.#asking = askedPromise.catch(() => {});
    return askedPromise;
  }
}

type ChunkBudgetOptions = ConstructorParameters<typeof Budget>[1] & {
  /** Reserves so much of the run's maximum, and returns the part that is left. */
  readonly reserveUsd: (usd: number) => Promise<number>;
  /** Resolves when calls have ended that may leave money; false if there are none. */
  readonly waitForMoney: () => Promise<boolean>;
  /** Shared by the chunks of a worker. */
  readonly dearest: { factor: number };
};

// The machine that began the run may have been told the price.
/** Checks that the maximum cost of a run can be kept. @throws CliError if no price is known */
export function checkPriced({ run, state, maxCostUsd }: RunInfo, price: RunPrice): void {
  const unpriced = findUnpriced(price);
  if (state !== "open" || maxCostUsd === null || unpriced === null) return;
  throw new CliError(`The --max-cost of run ${run} ${unpriced.problem}. ${unpriced.advice}.`);
}

/** Returns the stored form of the outcome of a call. */
export function toEnd(
  { idx, key, state }: ChunkRecord,
  outcome: CallOutcome,
  costUsd: number | null,
) {
  if ("error" in outcome) {
    const { error, isRefusal, cause } = outcome;
    return { idx, error, isRefusal, isRetryable: cause.isRetryable, isFinal: endsRun(cause) };
  }
  const { evaluation } = outcome;
  const { inputTokens = 0 } = evaluation.usage ?? {};
  return { idx, key, state, evaluation: toKeptText(evaluation), inputTokens, costUsd };
}

const REPORTED_MS = 1000; // as workers report

/** Waits if workers of a run have calls in flight, which may cost less than the most; returns false if none has. */
export async function waitForWorkers({
  runs,
  info: { run },
  context,
}: {
  readonly runs: Pick<RunStore, "workers">;
  readonly info: Pick<RunInfo, "run">;
  readonly context: Pick<RunContext, "clock" | "signal">;
}): Promise<boolean> {
  const workers = await untilReached(() => runs.workers(run), context);
  if (workers.every(({ inFlight }) => inFlight === 0)) return false;
  await pause(REPORTED_MS, context);
  return true;
}

import { CliError } from "evaluator-cli-kit";
import {
  type Catalog,
  estimateCost,
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
  type RateLimits,
} from "evaluator-client";
import { printCount, printDuration, printMails, printUsd } from "../amounts.ts";
import type { CallEnd } from "../journal/journal.ts";
import { interrupted } from "./interruption.ts";

/** What input costs; output is free (contract section 1, rule 11). */
export interface Price {
  readonly inputUsdPerMillionTokens: number;
  /** Where that is from, as a person reads it. */
  readonly source: string;
}

/** The price that the contract names. */
const contractPriceUsd = 0.042;

/** Returns what an answer has cost in US dollars: what the service says, else by its tokens. */
function evaluationUsd({ costUsd, usage }: Evaluation, price: Price): number {
  return costUsd ?? (usage.inputTokens * price.inputUsdPerMillionTokens) / 1_000_000;
}

/** Where a model's price can be looked up. */
export interface PriceSource {
  /** The gateway's price list; null when the model is not reached through it. */
  readonly catalog: Catalog | null;
  readonly modelId: string;
  /** Ends the look-up. */
  readonly signal: AbortSignal;
}

/** Returns a model's price from the gateway's list, else the contract's, and says which it is. */
export async function findPrice({ catalog, modelId, signal }: PriceSource): Promise<Price> {
  if (catalog === null) return contractPrice("the documented price");
  try {
    const models = await catalog.listModels({ signal });
    const listed = models.find(({ id }) => id === modelId)?.inputUsdPerMillionTokens ?? null;
    if (listed === null) return contractPrice("the documented price; the gateway lists none");
    return { inputUsdPerMillionTokens: listed, source: "the gateway's price list" };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    return contractPrice("the documented price; the gateway's list cannot be read");
  }
}

function contractPrice(source: string): Price {
  return { inputUsdPerMillionTokens: contractPriceUsd, source };
}

// One call with its way there and back; the model itself answers faster (contract section 2.5).
const MS_PER_CALL = 300;

/** What a run will take, before anything is sent. */
export interface RunEstimate {
  readonly mails: number;
  readonly inputTokens: number;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly price: Price;
}

/** Estimates what calls with so many input tokens will take. */
export function estimateRun(
  { mails, inputTokens }: Pick<RunEstimate, "mails" | "inputTokens">,
  { concurrency, limits, price }: { concurrency: number; limits: RateLimits; price: Price },
): RunEstimate {
  const costUsd = (inputTokens * price.inputUsdPerMillionTokens) / 1_000_000;
  const underWayMs = (mails * MS_PER_CALL) / concurrency;
  const limitedMs = (mails * 60_000) / (limits.requestsPerMinute ?? Number.POSITIVE_INFINITY);
  return { mails, inputTokens, costUsd, durationMs: Math.max(underWayMs, limitedMs), price };
}

/** Returns what a run will take, in one line. */
export function describeEstimate(estimate: RunEstimate, kept: number): string {
  const { mails, inputTokens, costUsd, durationMs, price } = estimate;
  const journal = kept === 0 ? "" : `; ${printCount(kept)} answered already`;
  const perMillion = printUsd(price.inputUsdPerMillionTokens);
  const basis = mails === 0 ? "" : ` (${perMillion} a million tokens: ${price.source})`;
  return (
    `To ask: ${printMails(mails)}, about ${printCount(inputTokens)} tokens, ` +
    `${printUsd(costUsd)}${basis}, ${printDuration(durationMs)}${journal}.\n`
  );
}

/** A run that is estimated above it needs a yes, when there is somebody to ask. */
const ASK_ABOVE_USD = 1;

/** What a run may cost, and who can be asked. */
export interface CostLimits {
  /** US dollars; Infinity for no bound. */
  readonly maxCostUsd: number;
  /** Whether the answer is yes already. */
  readonly yes: boolean;
  /** Aborts when the person interrupts instead of answering. */
  readonly signal: AbortSignal;
  /** Asks the person a yes/no question; null when nobody is there. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

/**
 * Throws, before anything is sent, when the run may not cost what it is estimated to.
 *
 * @throws CliError that says why.
 */
export async function checkCost({ costUsd }: RunEstimate, limits: CostLimits): Promise<void> {
  const { maxCostUsd, yes, confirm, signal } = limits;
  if (costUsd > maxCostUsd) {
    const message = `The run would cost more than ${printUsd(maxCostUsd)} (--max-cost); nothing was sent.`;
    throw new CliError(`${message} Raise it, or take fewer mails with --limit.`);
  }
  if (costUsd <= ASK_ABOVE_USD || yes || confirm === null) return;
  if (await confirm(`Spend about ${printUsd(costUsd)}? [y/N] `)) return;
  throw signal.aborted
    ? interrupted("Interrupted; nothing was sent.", signal)
    : new CliError("Nothing was sent.");
}

/** What a run has come to so far; it counts what is on the disk. */
export class RunTotals {
  succeeded = 0;
  failed = 0;
  inputTokens = 0;
  costUsd = 0;
  readonly #price: Price;

  /** @param price - Counts for answers that do not say what they cost. */
  constructor(price: Price) {
    this.#price = price;
  }

  /** Counts a call that has ended. */
  add(end: CallEnd): void {
    if ("error" in end) {
      this.failed += 1;
      return;
    }
    this.succeeded += 1;
    this.inputTokens += end.evaluation.usage.inputTokens;
    this.costUsd += evaluationUsd(end.evaluation, this.#price);
  }
}

/** Keeps a run under the most it may cost. */
export class Budget {
  readonly #maxUsd: number;
  readonly #price: Price;
  #inFlight = 0;
  #answered = 0;
  #spentUsd = 0;
  /** Whether a request was held back. */
  isSpent = false;

  /** @param maxUsd - US dollars; Infinity for no bound. */
  constructor(maxUsd: number, price: Price) {
    this.#maxUsd = maxUsd;
    this.#price = price;
  }

  /** Whether one more request fits beside what is spent and what is in flight. */
  allows(nextRequest: () => EvaluationRequest): boolean {
    if (this.#maxUsd === Number.POSITIVE_INFINITY) return true;
    const { costUsd } = estimateCost([nextRequest()], this.#price);
    const perCall = Math.max(costUsd, this.#spentUsd / Math.max(1, this.#answered));
    const fits = this.#spentUsd + (this.#inFlight + 1) * perCall <= this.#maxUsd;
    if (fits) this.#inFlight += 1;
    else this.isSpent = true;
    return fits;
  }

  /** A request was answered. */
  answered(evaluation: Evaluation): void {
    this.#inFlight -= 1;
    this.#answered += 1;
    this.#spentUsd += evaluationUsd(evaluation, this.#price);
  }

  /** A request got no answer. */
  failed(): void {
    this.#inFlight -= 1;
  }
}

import { CliError } from "evaluator-kit";
import type { RateLimits, Transport } from "evaluator-client";
import { printCount, printDuration, printMails, printUsd } from "../amounts.ts";
import { noKnownPrice, type Price, tokensUsd } from "./cost.ts";
import { interrupted } from "./interruption.ts";

// One call with its way there and back; the model itself answers faster (contract section 2.5).
const MS_PER_CALL = 300;

/** What a run will take, before anything is sent. */
export interface RunEstimate {
  readonly mails: number;
  /** Calls of the model: some engines take several for a mail. */
  readonly calls: number;
  readonly inputTokens: number;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly price: Price;
}

/** Estimates what calls with so many input tokens will take. */
export function estimateRun(
  sent: Pick<RunEstimate, "mails" | "calls" | "inputTokens">,
  { concurrency, limits, price }: { concurrency: number; limits: RateLimits; price: Price },
): RunEstimate {
  const costUsd = tokensUsd(sent.inputTokens, price);
  const underWayMs = (sent.calls * MS_PER_CALL) / concurrency;
  const limitedMs = (sent.calls * 60_000) / (limits.requestsPerMinute ?? Number.POSITIVE_INFINITY);
  return { ...sent, costUsd, durationMs: Math.max(underWayMs, limitedMs), price };
}

/** Returns the limits of a key: as a person said, else as the transport knows them. */
export function limitsOf(
  { rate }: { readonly rate?: number | undefined },
  { limits = {} }: Pick<Transport, "limits">,
): RateLimits {
  return rate === undefined ? limits : { ...limits, requestsPerMinute: rate };
}

/** Returns in one line what the key allows, and whether more machines would shorten a run. */
export function describeMachines(
  calls: number,
  { concurrency, limits }: { readonly concurrency: number; readonly limits: RateLimits },
): string {
  if (calls === 0) return "";
  const { requestsPerMinute } = limits;
  if (requestsPerMinute === undefined) {
    return "No limit of the key is known (--rate names one): up to what the service allows, twice the --concurrency takes half the time, and so do two machines.\n";
  }
  const limit = `The key allows ${printCount(requestsPerMinute)} requests a minute: ${printDuration((calls * 60_000) / requestsPerMinute)}, on any number of machines.`;
  const needed = Math.ceil((requestsPerMinute * MS_PER_CALL) / 60_000);
  return needed <= concurrency
    ? `${limit} One machine reaches that, so more would not help.\n`
    : `${limit} One machine reaches that with --concurrency ${needed}, so more would not help.\n`;
}

/** Returns what a run will take, in one line. */
export function describeEstimate(estimate: RunEstimate, kept: number, refused = 0): string {
  const { mails, calls, inputTokens, costUsd, durationMs, price } = estimate;
  const ended = [
    kept === 0 ? [] : `${printCount(kept)} answered already`,
    refused === 0 ? [] : `${printCount(refused)} refused as too long`,
  ].flat();
  const journal = ended.length === 0 ? "" : `; ${ended.join(", ")}`;
  const inCalls = calls === mails ? "" : ` in at most ${printCount(calls)} calls`;
  const isUnpriced = mails > 0 && price.inputUsdPerMillionTokens === null;
  const cost = isUnpriced ? noKnownPrice : printUsd(costUsd);
  const basis = mails === 0 ? "" : ` (${describePrice(price)})`;
  return (
    `To ask: ${printMails(mails)}, about ${printCount(inputTokens)} tokens${inCalls}, ` +
    `${cost}${basis}, ${printDuration(durationMs)}${journal}.\n`
  );
}

function describePrice({ inputUsdPerMillionTokens, source }: Price): string {
  if (inputUsdPerMillionTokens === null) return `${source}; --price names one`;
  return `${printUsd(inputUsdPerMillionTokens)} a million tokens: ${source}`;
}

/** A run that is estimated above it needs a yes, when there is somebody to ask. */
const ASK_ABOVE_USD = 1;

/** What a run may cost, and who can be asked. */
export interface CostLimits {
  /** US dollars; Infinity for no bound. */
  readonly maxCost: number;
  /** Whether the answer is yes already. */
  readonly yes?: boolean | undefined;
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
export async function checkCost(estimate: RunEstimate, limits: CostLimits): Promise<void> {
  const { mails, costUsd, price } = estimate;
  const { maxCost, yes, confirm, signal } = limits;
  const isBounded = maxCost < Number.POSITIVE_INFINITY;
  if (isBounded && mails > 0 && price.inputUsdPerMillionTokens === null) {
    const problem = "--max-cost cannot be kept, since no list says what this engine costs";
    throw new CliError(
      `${problem}; nothing was sent. Name it with --price USD, for a million input tokens, or leave --max-cost out.`,
    );
  }
  if (costUsd > maxCost) {
    const message = `The run would cost more than ${printUsd(maxCost)} (--max-cost); nothing was sent.`;
    throw new CliError(`${message} Raise it, or take fewer mails with --limit.`);
  }
  if (costUsd <= ASK_ABOVE_USD || yes || confirm === null) return;
  if (await confirm(`Spend about ${printUsd(costUsd)}? [y/N] `)) return;
  throw signal.aborted
    ? interrupted("Interrupted; nothing was sent.", signal)
    : new CliError("Nothing was sent.");
}

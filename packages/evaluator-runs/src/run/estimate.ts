import { CliError } from "evaluator-kit";
import type { Catalog, RateLimits } from "evaluator-client";
import { printCount, printCounted, printDuration, printUsd } from "../amounts.ts";
import { listLimits } from "../limits.ts";
import { isEmulator } from "../service.ts";
import {
  findRunPrice,
  type Price,
  type RunPrice,
  tokensUsd,
  findUnpriced,
} from "../money/price.ts";
import { interrupted } from "./interruption.ts";
import type { CallPlan } from "./plan-calls.ts";
import type { RunContext } from "./run-context.ts";

// One call and the network; the model itself answers faster (contract section 2.5).
const MS_PER_CALL = 300;
// Of the emulator in this process, with the journal; 3.8 measured. It answers one call after the other.
const MS_PER_EMULATED_CALL = 4;

/** How many records of a run are to be asked about, and how many ended in earlier runs. */
export interface RunCounts {
  readonly open: number;
  readonly kept: number;
  readonly refused: number;
}

/**
 * Prints the estimate of a run and returns the price; for a dry run it prints to stdout, else it
 * checks the cost before anything is sent.
 *
 * @throws CliError if the run may not cost its estimate.
 */
export async function announceRun(
  plan: CallPlan,
  context: RunContext,
  counts: RunCounts = {
    open: plan.open,
    kept: plan.count("answered"),
    refused: plan.count("refused"),
  },
): Promise<RunPrice> {
  const { run, input, source, transport, stdout, stderr } = context;
  const estimate = await estimateRun(plan, counts.open, context);
  const { price } = estimate;
  const line = describeEstimate(estimate, counts, source.word);
  if (run.dryRun) {
    const setting = { concurrency: run.concurrency, limits: listLimits(run, transport) };
    stdout.write(line + describeMachines(estimate.calls, setting));
    stderr.write(input.describeLeftOut());
    return price;
  }
  stderr.write(input.describeLeftOut() + line);
  await checkCost(estimate, context);
  return price;
}

type RunEstimate = Awaited<ReturnType<typeof estimateRun>>;

async function estimateRun(plan: CallPlan, records: number, context: RunContext) {
  const { run, transport, signal } = context;
  const toCatalog = (one: Catalog | null) => (records === 0 ? null : one);
  const first = { transport, catalog: toCatalog(context.catalog) };
  const next = context.next && { ...context.next, catalog: toCatalog(context.next.catalog) };
  const price = await findRunPrice(run, [first, next], signal);
  // A plan without statuses does not know the open records, so they count as average ones.
  const share = records / Math.max(1, plan.open);
  const [missing = { calls: 0, inputTokens: 0 }, again] = plan.missing;
  const calls = Math.ceil(missing.calls * share);
  const inputTokens = Math.ceil(missing.inputTokens * share);
  const { requestsPerMinute = Number.POSITIVE_INFINITY } = listLimits(run, transport);
  const isEmulated = isEmulator(context.service.address);
  const callMs = isEmulated ? MS_PER_EMULATED_CALL : MS_PER_CALL / run.concurrency;
  const durationMs = calls * Math.max(callMs, 60_000 / requestsPerMinute);
  const costUsd = tokensUsd(inputTokens, price);
  const againUsd = price.next && tokensUsd((again?.inputTokens ?? 0) * share, price.next);
  return { records, calls, inputTokens, costUsd, durationMs, isEmulated, price, againUsd };
}

/** Returns in one line the limit of the key, and whether more machines would shorten a run. */
function describeMachines(
  calls: number,
  { concurrency, limits }: { readonly concurrency: number; readonly limits: RateLimits },
): string {
  if (calls === 0) return "";
  const { requestsPerMinute } = limits;
  if (requestsPerMinute === undefined) {
    return "The key's limit is unknown (--rate sets one): up to it, double --concurrency or two machines take half the time.\n";
  }
  const limit = `The key allows ${printCount(requestsPerMinute)} requests a minute: ${printDuration((calls * 60_000) / requestsPerMinute)} on any number of machines.`;
  const neededCount = Math.ceil((requestsPerMinute * MS_PER_CALL) / 60_000);
  const option = neededCount <= concurrency ? "" : ` with --concurrency ${neededCount}`;
  return `${limit} One machine reaches that${option}.\n`;
}

function describeEstimate(
  estimate: RunEstimate,
  { kept: keptCount, refused: refusedCount }: RunCounts,
  word: string,
) {
  const { records, calls, inputTokens, costUsd, durationMs, isEmulated, price, againUsd } =
    estimate;
  const endedCounts = [
    keptCount === 0 ? [] : `${printCount(keptCount)} answered already`,
    refusedCount === 0 ? [] : `${printCount(refusedCount)} refused as too long`,
  ].flat();
  const journal = endedCounts.length === 0 ? "" : `; ${endedCounts.join(", ")}`;
  const inCalls = calls === records ? "" : ` in at most ${printCount(calls)} calls`;
  const isUnpriced = records > 0 && price.inputUsdPerMillionTokens === null;
  const cost = printUsd(isUnpriced ? null : costUsd);
  const basis = records === 0 ? "" : ` (${describePrice(price)})`;
  // A guess until the first answers; the progress shows the time that is measured.
  const guess = isEmulated || records === 0 ? "" : ` at ${MS_PER_CALL / 1000} s a call`;
  return (
    `To ask: ${printCounted(records, word)}, about ${printCount(inputTokens)} tokens${inCalls}, ` +
    `${cost}${basis}, ${printDuration(durationMs)}${guess}${journal}.\n` +
    describeAgain(records, price, againUsd)
  );
}

/** Returns in one line the most that it costs to ask again for unsure answers. */
function describeAgain(records: number, { next }: RunPrice, usd: number | undefined): string {
  if (records === 0 || next === undefined) return "";
  const cost = printUsd(next.inputUsdPerMillionTokens === null ? null : (usd ?? 0));
  return `To ask again if unsure: up to ${cost} more (${describePrice(next, "--then-price")}).\n`;
}

function describePrice({ inputUsdPerMillionTokens, source }: Price, option = "--price"): string {
  if (inputUsdPerMillionTokens === null) return `${source}; ${option} names one`;
  return `${printUsd(inputUsdPerMillionTokens)} a million tokens: ${source}`;
}

/** A run with a larger estimate needs a yes, if a person can be asked. */
const ASK_ABOVE_USD = 1;

/**
 * Throws, before anything is sent, if the run may not cost its estimate.
 *
 * @throws CliError that gives the reason.
 */
async function checkCost(
  { records, costUsd, price, againUsd = 0 }: RunEstimate,
  { run: { maxCost, yes }, confirm, signal, mayCost }: RunContext,
): Promise<void> {
  const isBounded = maxCost < Number.POSITIVE_INFINITY;
  const unpriced = findUnpriced(price);
  if (isBounded && records > 0 && unpriced !== null) {
    const { problem, advice } = unpriced;
    throw new CliError(`--max-cost ${problem}. ${advice}, or leave --max-cost out.`);
  }
  if (costUsd > maxCost) {
    const message = `The run would cost more than ${printUsd(maxCost)} (--max-cost); nothing was sent.`;
    throw new CliError(`${message} Raise it, or set --limit.`);
  }
  const isAsked = records > 0 && (mayCost ?? costUsd + againUsd > ASK_ABOVE_USD);
  if (!isAsked || yes || confirm === null) return;
  const more = againUsd > 0 ? `, up to ${printUsd(againUsd)} to ask again` : "";
  const spend = `Spend about ${printUsd(costUsd)}${more}`;
  const question = unpriced === null ? spend : "Ask at an unknown price";
  if (await confirm(`${question}? [y/N] `)) return;
  throw signal.aborted
    ? interrupted("Interrupted; nothing was sent.", signal)
    : new CliError("Nothing was sent.");
}

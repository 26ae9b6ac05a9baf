import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { RunCommand } from "../options/run-options.ts";
import type { JournalReader } from "../journal/journal-reader.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { RunBegin } from "../journal/run-facts.ts";
import { Journal } from "../journal/journal.ts";
import { checkOutput } from "../output/check-output.ts";
import { describeEngine, hasDocumentedPrice, type ProgramContext } from "../service.ts";
import { askMissing } from "./ask-calls.ts";
import { findPrice } from "./cost.ts";
import {
  checkCost,
  describeEstimate,
  describeMachines,
  estimateRun,
  limitsOf,
  type RunEstimate,
} from "./estimate.ts";
import { type CallPlan, planCalls } from "./plan-calls.ts";
import { giveResults } from "./results.ts";
import { readRunContext, type RunContext } from "./run-context.ts";

/**
 * Triages one file: checks everything, asks what the journal has no answer to, writes the results,
 * prints the table; returns the exit code, 0 or 2.
 *
 * @throws CliError when it cannot go on or is interrupted; no results are written then.
 */
export async function runFile(run: RunCommand, program: ProgramContext): Promise<number> {
  const context = await readRunContext(run, program);
  const { stdout, stderr, input } = context;
  stderr.write(describeEngine(context.service));
  if (run.dryRun) {
    stdout.write(await dryRun(context));
    stderr.write(input.describeLeftOut());
    return 0;
  }
  await checkOutput(context.outputPath, context.inputPath);
  using journal = Journal.open(context.journalPath, context);
  const noteMails = journal.noteMails.bind(journal);
  const plan = await planCalls(context, { journal, noteMails });
  journal.beginRun({ mails: plan.length, options: toBegunOptions(run, context) });
  const estimate = await estimateFor(plan, context);
  stderr.write(
    input.describeLeftOut() +
      describeEstimate(estimate, plan.count("answered"), plan.count("refused")),
  );
  await checkCost(estimate, { ...run, ...context });
  const { price } = estimate;
  const outcome = await askMissing(plan, { context, journal, price });
  return await giveResults(plan, { context, journal, outcome });
}

// What decides what a run asks and writes.
function toBegunOptions(run: RunCommand, context: RunContext): RunBegin["options"] {
  const { cwd, source } = context;
  const { skipInvalid = false, format, limit, maxCost } = run;
  const whole = (path: string | undefined) => (path === undefined ? null : resolve(cwd, path));
  return {
    limit: finite(limit),
    skipInvalid,
    ...source.keepStateOptions(run.state, context),
    questions: whole(run.questions),
    calibration: whole(run.calibration),
    format,
    maxCostUsd: finite(maxCost),
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

// It makes nothing and locks nothing, so it works beside a run.
async function dryRun(context: RunContext): Promise<string> {
  const planWith = (journal: JournalReader | null) => planCalls(context, { journal });
  const { journalPath } = context;
  const plan = await (existsSync(journalPath)
    ? readJournal(journalPath, planWith)
    : planWith(null));
  const estimate = await estimateFor(plan, context);
  return describeDryRun(plan, estimate, context);
}

/** Returns what the open calls of a plan, or so many of them, will take, and at what price. */
export async function estimateFor(
  plan: CallPlan,
  context: RunContext,
  mails = plan.open,
): Promise<RunEstimate> {
  const { run, transport, service, signal } = context;
  const catalog = mails === 0 ? null : context.catalog;
  const { modelId } = service;
  const isDocumented = hasDocumentedPrice(transport);
  const price = await findPrice({
    given: run.price ?? null,
    catalog,
    isDocumented,
    modelId,
    signal,
  });
  const { concurrency } = run;
  const limits = limitsOf(run, transport);
  // A plan without statuses does not know which mails are left, so they count as long as the average.
  const share = mails / Math.max(1, plan.open);
  const calls = Math.ceil(plan.missing.calls * share);
  const inputTokens = Math.ceil(plan.missing.inputTokens * share);
  return estimateRun({ mails, calls, inputTokens }, { concurrency, price, limits });
}

/** Returns what a run would take, whether more machines would shorten it, and what its states cost. */
export function describeDryRun(
  plan: CallPlan,
  estimate: RunEstimate,
  { run, transport }: Pick<RunContext, "run" | "transport">,
): string {
  const limits = limitsOf(run, transport);
  return (
    describeEstimate(estimate, plan.count("answered"), plan.count("refused")) +
    describeMachines(estimate.calls, { concurrency: run.concurrency, limits }) +
    (plan.additions?.describe(estimate.price.inputUsdPerMillionTokens) ?? "")
  );
}

import { existsSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { checkOutput, printable } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import { toRecord } from "../columns/columns.ts";
import { warnOfShared } from "../journal-address.ts";
import type { RunBegin } from "../run-facts.ts";
import { Journal } from "../journal/journal.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { RunCommand } from "../options.ts";
import { describeEngine, type ProgramContext } from "../service.ts";
import { type PlanOutcome, toRunFacts, workOnPlan } from "./file-worker.ts";
import { stepFacts } from "../money/totals.ts";
import { engineNames } from "./ask-engines.ts";
import { describeRun } from "./describe-run.ts";
import { announceRun } from "./estimate.ts";
import { type CallPlan, planCalls } from "./plan-calls.ts";
import { describeMaximum, giveResults, unfinished } from "./results.ts";
import { readRunContext, type RunContext } from "./run-context.ts";

/**
 * Runs over one file: checks everything, asks for the missing answers, writes the results, prints the
 * table; returns the exit code, 0 or 2.
 *
 * @throws CliError if it cannot go on or is interrupted; no results are written then.
 */
export async function runFile(run: RunCommand, program: ProgramContext): Promise<number> {
  const context = await readRunContext(run, program);
  const { stderr, outputPath, inputPath, journalPath } = context;
  stderr.write(describeEngine(context.service));
  if (run.dryRun) {
    // It creates and locks nothing, so it works beside a run.
    const plan = await (existsSync(journalPath)
      ? readJournal(journalPath, (journal) => planCalls(context, journal))
      : planCalls(context, {}));
    await announceRun(plan, context);
    return 0;
  }
  await checkOutput(outputPath, [inputPath], context);
  using journal = Journal.open(journalPath, context, context);
  warnOfShared(journal, context);
  const plan = await planCalls(context, journal);
  if (!run.part) journal.beginRun({ mails: plan.length, options: toBegunOptions(run, context) });
  const price = await announceRun(plan, context);
  const outcome = await workOnPlan(plan, { context, journal, price });
  stderr.write(describeFileRun(plan, outcome, context));
  checkComplete(plan, outcome, context);
  return await giveFileResults(plan, outcome, { context, journal });
}

// Everything that affects what a run asks and writes.
function toBegunOptions(run: RunCommand, context: RunContext): RunBegin["options"] {
  const { cwd, source } = context;
  const { skipInvalid = false, format, limit, maxCost } = run;
  const whole = (path: string | undefined) => (path === undefined ? null : resolve(cwd, path));
  return {
    limit: Number.isFinite(limit) ? limit : null,
    skipInvalid,
    ...source.keepStateOptions(run.state, context),
    input: basename(context.inputPath),
    questions: whole(run.questions),
    calibration: whole(run.calibration),
    format,
    maxCostUsd: Number.isFinite(maxCost) ? maxCost : null,
  };
}

function describeFileRun(
  plan: CallPlan,
  { totals, elapsedMs, askedAgain }: PlanOutcome,
  context: RunContext,
): string {
  return describeRun({
    subject: "Answered",
    answered: totals.succeeded,
    counts: [
      [totals.failed, "failed"],
      [plan.count("answered"), "answered already"],
      [plan.count("refused"), "refused as too long by an earlier run and not asked again"],
      [askedAgain.begun, "in flight when an earlier run ended and asked again"],
      [askedAgain.changed, "not in the journal as written and asked again"],
    ],
    place: printable`Journal: ${relative(context.cwd, context.journalPath)}`,
    inputTokens: totals.inputTokens,
    cost: totals.describeCost(),
    elapsedMs,
    steps: stepFacts(totals, engineNames(context)),
  });
}

function checkComplete(plan: CallPlan, outcome: PlanOutcome, { signal, run }: RunContext): void {
  const { finalError, isBudgetSpent, totals } = outcome;
  if (!signal.aborted && finalError === null && !isBudgetSpent) return;
  const keptCount = plan.count("answered") + totals.succeeded;
  const reason = finalError?.message ?? describeMaximum(run.maxCost);
  const isCapped = finalError === null && !signal.aborted;
  const notAsked = isCapped ? plan.open - totals.succeeded - totals.failed : null;
  throw unfinished({ reason, kept: keptCount, of: plan.length, notAsked }, signal);
}

async function giveFileResults(
  plan: CallPlan<JsonObject>,
  outcome: PlanOutcome,
  { context, journal }: { readonly context: RunContext; readonly journal: Journal },
): Promise<number> {
  const { questions, calibration } = context;
  const rows = async function* rows() {
    for await (const { index, record: input, status } of plan.calls()) {
      const end = journal.endOf(input.id, questions);
      const record = toRecord(input, end, context);
      yield { index, input, record, kept: end.evaluation, isRefused: status === "refused" };
    }
  };
  const facts = () => toRunFacts(plan, outcome, context);
  const results = {
    records: plan.length,
    hasErrors: outcome.totals.failed + plan.count("refused") > 0,
    news: journal.newRecords(),
    rows,
    hasTable: true,
    onWritten: () => journal.addRun({ ...facts(), ...(calibration && { calibration }) }),
  };
  return await giveResults(results, context);
}

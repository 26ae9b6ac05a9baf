import { existsSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { printable } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import { toRecord } from "../columns/columns.ts";
import { warnOfShared } from "../journal-address.ts";
import type { RunBegin } from "../run-facts.ts";
import { Journal } from "../sqlite/journal.ts";
import { readJournal } from "../sqlite/read-journal.ts";
import { type PlanOutcome, toRunFacts, workOnPlan } from "./file-worker.ts";
import { stepFacts } from "../money/totals.ts";
import { engineNames } from "./ask-engines.ts";
import { describeRun } from "./describe-run.ts";
import { type CallPlan, planCalls } from "./plan-calls.ts";
import { type CompleteRun, describeMaximum } from "./results.ts";
import type { RunContext } from "./run-context.ts";
import type { PlanRun } from "./start-run.ts";

/** Plans a run with its journal in a file. */
export const planInFile: PlanRun = async (context, use) => {
  const { run, journalPath } = context;
  if (run.dryRun) {
    // It creates and locks nothing, so it works beside a run.
    const plan = await (existsSync(journalPath)
      ? readJournal(journalPath, (journal) => planCalls(context, journal))
      : planCalls(context, {}));
    return await use({ plan, ask: null });
  }
  using journal = Journal.open(journalPath, context, context);
  warnOfShared(journal, context);
  const plan = await planCalls(context, journal);
  if (!run.part) journal.beginRun({ mails: plan.length, options: toBegunOptions(context) });
  return await use({
    plan,
    async ask(price) {
      const outcome = await workOnPlan(plan, { context, journal, price });
      const { finalError, isBudgetSpent, totals } = outcome;
      return {
        line: describeFileRun(plan, outcome, context),
        kept: plan.count("answered") + totals.succeeded,
        stoppedBy: finalError?.message ?? (isBudgetSpent ? describeMaximum(run.maxCost) : null),
        notAsked: finalError === null ? plan.open - totals.succeeded - totals.failed : null,
        results: () => toResults(plan, outcome, { context, journal }),
      };
    },
  });
};

// Everything that affects what a run asks and writes.
function toBegunOptions(context: RunContext): RunBegin["options"] {
  const { cwd, source, run } = context;
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
      [plan.count("refused"), "refused as too long before, not asked again"],
      [askedAgain.begun, "in flight when a run ended, asked again"],
      [askedAgain.changed, "damaged in the journal, asked again"],
    ],
    place: printable`Journal: ${relative(context.cwd, context.journalPath)}`,
    inputTokens: totals.inputTokens,
    cost: totals.describeCost(),
    elapsedMs,
    steps: stepFacts(totals, engineNames(context)),
  });
}

function toResults(
  plan: CallPlan<JsonObject>,
  outcome: PlanOutcome,
  { context, journal }: { readonly context: RunContext; readonly journal: Journal },
): CompleteRun {
  const { questions, calibration } = context;
  const rows = async function* rows() {
    for await (const { index, record: input, status } of plan.calls()) {
      const end = journal.endOf(input.id, questions);
      const record = toRecord(input, end, context);
      yield { index, input, record, kept: end.evaluation, isRefused: status === "refused" };
    }
  };
  const facts = () => toRunFacts(plan, outcome, context);
  return {
    records: plan.length,
    hasErrors: outcome.totals.failed + plan.count("refused") > 0,
    news: journal.newRecords(),
    rows,
    onWritten: () => journal.addRun({ ...facts(), ...(calibration && { calibration }) }),
  };
}

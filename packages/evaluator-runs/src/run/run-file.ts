import { existsSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { CliError, printable } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import { toRecord } from "../columns/columns.ts";
import { warnOfShared, inputOf, type JournalAddress } from "../journal-address.ts";
import type { RunBegin } from "../run-facts.ts";
import { Journal } from "../journal/journal.ts";
import { listRuns, needRun } from "../file-runs.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { RunCommand, WorkCommand } from "../options.ts";
import { checkOutput } from "../output/check-output.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import { checkSameEngine, describeEngine, type ProgramContext } from "../service.ts";
import { type PlanOutcome, toRunFacts, workOnPlan } from "./file-worker.ts";
import { stepFacts } from "../money/totals.ts";
import { engineNames } from "./ask-engines.ts";
import { describeRun } from "./describe-run.ts";
import { announceRun } from "./estimate.ts";
import { readNextEngine, serviceThrough } from "../next-engine.ts";
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
  await checkOutput(outputPath, inputPath, context);
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

/**
 * Goes on with the newest run of a journal file, with the options it was begun with; returns its exit code.
 *
 * @throws CliError if there is no run, or it asks another engine or other questions than here.
 */
export async function goOn(
  command: WorkCommand,
  address: Extract<JournalAddress, { kind: "sqlite" }>,
  program: ProgramContext,
): Promise<number> {
  const { path } = address;
  const { newest, number } = await readJournal(path, (journal) => {
    const all = listRuns(journal);
    if (command.run !== undefined) needRun(all, command.run, path);
    return { newest: all.at(-1), number: all.length };
  });
  if (newest === undefined) {
    throw new CliError(printable`No run has begun in ${path}; start one about its input.`);
  }
  if ((command.run ?? number) !== number) {
    const problem = printable`Run ${String(command.run)} of ${path} is over`;
    throw new CliError(`${problem}; work goes on with the newest run, which is ${number}.`);
  }
  const runSetup = newest.setup;
  const { openTransport, env } = program;
  const transport = await openTransport({ ...command, env });
  const option = program.engineOption?.long ?? ".env";
  const orElse = "or start a new run about the file.";
  const advice = `set the same engine (${option}, --offline), ${orElse}`;
  const state = newest.begin?.options ?? {};
  const run = {
    ...toRun(newest.begin, command),
    file: inputOf(address, program.source, newest.begin?.options["input"]),
    state,
  };
  const questions = await chooseQuestions(run.questions, program);
  const next = await readNextEngine({ ...run, env }, runSetup.questions, program);
  const service = serviceThrough(transport, next);
  checkSameEngine({ run: "The run", service: runSetup.service, advice }, service);
  if (JSON.stringify(questions) !== JSON.stringify(runSetup.questions)) {
    throw new CliError(
      `The run asks other questions than this program would now; undo the change to --questions or the environment, ${orElse}`,
    );
  }
  return await runFile(run, program);
}

function toRun(begin: RunBegin | null, command: WorkCommand): Omit<RunCommand, "file" | "state"> {
  const { journal: _journal, run: _run, wait: _wait, ...asking } = command;
  const { skipInvalid, questions, calibration, format, limit, maxCostUsd } = begin?.options ?? {};
  return {
    ...asking,
    ...(skipInvalid && { skipInvalid }),
    ...(questions != null && { questions }),
    ...(calibration != null && { calibration }),
    format: format ?? "json",
    limit: limit ?? Number.POSITIVE_INFINITY,
    maxCost: maxCostUsd ?? Number.POSITIVE_INFINITY,
  };
}

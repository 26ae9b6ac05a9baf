import { join } from "node:path";
import { type CliContext, CliError, exitCodes, printable, UsageError } from "evaluator-kit";
import type { Questions } from "evaluator-client";
import { type Journal, openJournal, type RunOptions, runRecords } from "evaluator-runs";
import { documentedPrice, type KeptEvaluation } from "evaluator-runs/results";
import { printCounted, printUsd } from "evaluator-runs/source";
import type { CompareOptions } from "../commands/ask-commands.ts";
import { type Asked, readAsked } from "./asked.ts";
import { compareEngines, type Comparison } from "./comparison.ts";
import { writeComparison } from "./comparison-report.ts";
import { callLimits, type Engine, toEngineError } from "../engines/engine.ts";
import { checkReport, makeFolder } from "../write-report.ts";

/** Asks several engines the same questions, and prints and writes how they compare. */
export async function compare(options: CompareOptions, context: CliContext): Promise<void> {
  checkOptions(options);
  await checkReport(options.out, "labels", context);
  const comparedInput = await readAsked(options, context);
  if (options.maxCost !== undefined) checkPriced(comparedInput.engines);
  const answeredEngines = await askEngines(comparedInput, context);
  const comparison = compareEngines(answeredEngines, comparedInput);
  await writeComparison(comparison, options, context);
  context.exitCode = computeExitCode(comparison);
}

function checkOptions({ labels, engine: engines, ...options }: CompareOptions): void {
  if (engines.length < 2) throw new UsageError("Give --engine twice or more.");
  const repeatedEngine = engines.find((engine, index) => engines.indexOf(engine) !== index);
  if (repeatedEngine !== undefined)
    throw new UsageError(`--engine ${repeatedEngine} is given twice.`);
  if (labels !== undefined) return;
  if (options.states === undefined) {
    throw new UsageError("Give records to ask about: LABELS or --states.");
  }
  if (options.margin !== undefined || options.calibrated === true) {
    throw new UsageError("--margin and --calibrated need LABELS.");
  }
}

/** @throws UsageError, before any engine is asked, if a maximum cost cannot be kept */
function checkPriced(engines: readonly Engine[]): void {
  const unpricedEngine = engines.find((engine) => findPrice(engine) === null);
  if (unpricedEngine === undefined) return;
  const problem = printable`--max-cost cannot be kept: no list has the price of ${unpricedEngine.name}; nothing was sent.`;
  const advice = printable`Type it as ${unpricedEngine.name},price=USD (a million input tokens), or leave --max-cost out.`;
  throw new UsageError(`${problem} ${advice}`);
}

/** Returns the price before an answer, in US dollars for a million input tokens; null if it is unknown. */
function findPrice({ usdPerMillionTokens, transport, isFree }: Engine): number | null {
  const { inputUsdPerMillionTokens: documentedUsd } = documentedPrice(transport);
  return usdPerMillionTokens ?? documentedUsd ?? (isFree ? 0 : null);
}

function computeExitCode({ questions, margin }: Comparison): number {
  if (margin === null) return exitCodes.done;
  const judgements = new Set(
    questions.flatMap(({ engines }) => engines.map(({ judgement }) => judgement)),
  );
  if (judgements.has("worse")) return exitCodes.failed;
  const isOpen = judgements.has("not shown") || judgements.has("no fair draw");
  return isOpen ? exitCodes.notEnoughEvidence : exitCodes.done;
}

// Chosen, not measured: a record may be rejected; this many before the first answer are the engine's fault.
const FAILURES_AT_START = 5;

/** Asks for every answer that is not kept; one engine after the other, so that none slows down another. */
async function askEngines(comparedInput: Asked, context: CliContext) {
  const answersPath = join(await makeFolder(comparedInput.options.out, context), "answers.sqlite");
  const { concurrency, maxCost = Number.POSITIVE_INFINITY } = comparedInput.options;
  const { signal, stderr: progress } = context;
  const runLimits = { ...callLimits, failuresAtStart: FAILURES_AT_START };
  const answeredEngines: (ReturnType<typeof readAnswers> & { readonly engine: Engine })[] = [];
  const lastRunId = findLastRunId(answersPath, comparedInput);
  for (const engine of comparedInput.engines) {
    using journal = openAnswers(answersPath, comparedInput.questions, engine);
    const { transport } = engine;
    const usdPerMillionTokens = findPrice(engine) ?? undefined;
    // The run itself counts what its engine spent since a run of it was complete.
    const leftUsd = maxCost - journal.spentUsdSince(lastRunId) + journal.spentUsd;
    const runBudget = { maxCostUsd: Math.max(0, leftUsd), usdPerMillionTokens };
    const runOptions = {
      ...runLimits,
      ...runBudget,
      journal,
      transport,
      concurrency,
      signal,
      progress,
    };
    const runOutcome = await askMissing(comparedInput, engine, runOptions);
    if (runOutcome.isBudgetSpent)
      throw toBudgetError(journal.spentUsdSince(lastRunId), runOutcome, engine);
    answeredEngines.push({ engine, ...readAnswers(journal, comparedInput, engine) });
  }
  return answeredEngines;
}

/** Returns the run that completed the last comparison: the last engine's, so that a repeated command spends its cap once. */
function findLastRunId(answersPath: string, { engines, questions }: Asked): number {
  using journal = openAnswers(answersPath, questions, engines.at(-1) as Engine);
  return journal.lastWholeRun;
}

function openAnswers(answersPath: string, questions: Questions, { transport }: Engine): Journal {
  try {
    return openJournal(answersPath, { questions, transport });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message} Or choose another folder with --out.`, { cause: error });
  }
}

async function askMissing(comparedInput: Asked, engine: Engine, runOptions: RunOptions) {
  const records = Array.from(comparedInput.states, ([id, state]) => ({ id, state }));
  const printProgress = (progressText: string) =>
    runOptions.progress?.write(printable`${engine.name}: ${progressText}` + "\n");
  printProgress(`${printCounted(records.length, "record")}.`);
  try {
    const runOutcome = await runRecords(records, runOptions);
    const { answered: answeredCount, skipped: skippedCount, failed: failedCount } = runOutcome;
    printProgress(
      `${answeredCount} answered, ${skippedCount} answered already, ${failedCount} failed.`,
    );
    return runOutcome;
  } catch (error) {
    throw toEngineError(error, engine);
  }
}

function toBudgetError(
  spentUsd: number,
  { notAsked }: Awaited<ReturnType<typeof runRecords>>,
  { name }: Engine,
): CliError {
  const problem = printable`Stopped at --max-cost: ${printUsd(spentUsd)} spent, and ${name} has ${printCounted(notAsked, "record")} left.`;
  return new CliError(`${problem} The answers are kept; raise --max-cost to go on.`);
}

function readAnswers(journal: Journal, { states, questions }: Asked, { name, transport }: Engine) {
  const evaluations = new Map<string, KeptEvaluation>();
  const failures = new Map<string, string>();
  // SGLang does not name the model that answers; it is the requested one.
  const requestedModelId = transport.target?.modelId ?? null;
  for (const recordId of states.keys()) {
    const { evaluation, error } = journal.endOf(recordId, questions);
    if (evaluation === null) failures.set(recordId, error ?? "It has no answer.");
    else
      evaluations.set(recordId, { ...evaluation, modelId: evaluation.modelId ?? requestedModelId });
  }
  const [firstFailure = null] = failures.values();
  if (evaluations.size > 0 || firstFailure === null) return { evaluations, failures };
  throw new CliError(printable`${name} answered nothing. ${firstFailure}`);
}

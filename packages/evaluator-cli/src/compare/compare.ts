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
  context.exitCode = computeEnding(comparison);
}

function checkOptions({ labels, engine: engines, ...options }: CompareOptions): void {
  if (engines.length < 2) throw new UsageError("--engine is needed twice or more often.");
  const twice = engines.find((engine, at) => engines.indexOf(engine) !== at);
  if (twice !== undefined) throw new UsageError(`--engine ${twice} is given twice.`);
  if (labels !== undefined) return;
  if (options.states === undefined) {
    throw new UsageError("LABELS or --states is missing: the records to ask about.");
  }
  if (options.margin !== undefined || options.calibrated === true) {
    throw new UsageError("--margin and --calibrated need LABELS.");
  }
}

/** @throws UsageError, before any engine is asked, if a maximum cost cannot be kept */
function checkPriced(engines: readonly Engine[]): void {
  const unpricedEngine = engines.find((engine) => findPrice(engine) === null);
  if (unpricedEngine === undefined) return;
  const problem = printable`--max-cost cannot be kept, since no list says what ${unpricedEngine.name} costs; nothing was sent.`;
  const advice = printable`Type it as ${unpricedEngine.name},price=USD, for a million input tokens, or leave --max-cost out.`;
  throw new UsageError(`${problem} ${advice}`);
}

/** Returns the price before an answer, in US dollars for a million input tokens; null if it is unknown. */
function findPrice({ usdPerMillionTokens, transport, isFree }: Engine): number | null {
  const { inputUsdPerMillionTokens: documentedUsd } = documentedPrice(transport);
  return usdPerMillionTokens ?? documentedUsd ?? (isFree ? 0 : null);
}

function computeEnding({ questions, margin }: Comparison): number {
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
  const path = join(await makeFolder(comparedInput.options.out, context), "answers.sqlite");
  const { concurrency, maxCost = Number.POSITIVE_INFINITY } = comparedInput.options;
  const { signal, stderr: progress } = context;
  const limits = { ...callLimits, failuresAtStart: FAILURES_AT_START };
  const answeredEngines: (ReturnType<typeof readAnswers> & { readonly engine: Engine })[] = [];
  const before = lastComparison(path, comparedInput);
  for (const engine of comparedInput.engines) {
    using journal = openAnswers(path, comparedInput.questions, engine);
    const { transport } = engine;
    const usdPerMillionTokens = findPrice(engine) ?? undefined;
    // The run itself counts what its engine spent since a run of it was complete.
    const leftUsd = maxCost - journal.spentUsdSince(before) + journal.spentUsd;
    const budget = { maxCostUsd: Math.max(0, leftUsd), usdPerMillionTokens };
    const run = { ...limits, ...budget, journal, transport, concurrency, signal, progress };
    const outcome = await askMissing(comparedInput, engine, run);
    if (outcome.isBudgetSpent) throw outOfBudget(journal.spentUsdSince(before), outcome, engine);
    answeredEngines.push({ engine, ...readAnswers(journal, comparedInput, engine) });
  }
  return answeredEngines;
}

/** Returns the run that completed the last comparison: the last engine's, so that a repeated command spends its cap once. */
function lastComparison(path: string, { engines, questions }: Asked): number {
  using journal = openAnswers(path, questions, engines.at(-1) as Engine);
  return journal.lastWholeRun;
}

function openAnswers(path: string, questions: Questions, { transport }: Engine): Journal {
  try {
    return openJournal(path, { questions, transport });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message} Or choose another folder with --out.`, { cause: error });
  }
}

async function askMissing(comparedInput: Asked, engine: Engine, options: RunOptions) {
  const records = Array.from(comparedInput.states, ([id, state]) => ({ id, state }));
  const print = (text: string) =>
    options.progress?.write(printable`${engine.name}: ${text}` + "\n");
  print(`${printCounted(records.length, "record")}.`);
  try {
    const outcome = await runRecords(records, options);
    const { answered: answeredCount, skipped: skippedCount, failed: failedCount } = outcome;
    print(`${answeredCount} answered, ${skippedCount} answered already, ${failedCount} failed.`);
    return outcome;
  } catch (error) {
    throw toEngineError(error, engine);
  }
}

function outOfBudget(
  spentUsd: number,
  { notAsked }: Awaited<ReturnType<typeof runRecords>>,
  { name }: Engine,
): CliError {
  const problem = printable`Stopped at --max-cost: ${printUsd(spentUsd)} spent, and ${name} has ${printCounted(notAsked, "record")} left.`;
  return new CliError(
    `${problem} The answers are kept; with a larger --max-cost the same command goes on from there.`,
  );
}

function readAnswers(journal: Journal, { states, questions }: Asked, { name, transport }: Engine) {
  const evaluations = new Map<string, KeptEvaluation>();
  const failures = new Map<string, string>();
  // SGLang does not name the model that answers; it is the requested one.
  const requestedId = transport.target?.modelId ?? null;
  for (const id of states.keys()) {
    const { evaluation, error } = journal.endOf(id, questions);
    if (evaluation === null) failures.set(id, error ?? "It has no answer.");
    else evaluations.set(id, { ...evaluation, modelId: evaluation.modelId ?? requestedId });
  }
  const [failure = null] = failures.values();
  if (evaluations.size > 0 || failure === null) return { evaluations, failures };
  throw new CliError(printable`${name} answered nothing. ${failure}`);
}

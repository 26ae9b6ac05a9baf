import { checkOutput, CliError, toPrintable } from "evaluator-kit";
import { printCounted } from "../amounts.ts";
import type { RunPrice } from "../money/price.ts";
import type { RunCommand } from "../options.ts";
import { describeEngine, type ProgramContext } from "../service.ts";
import { announceRun, type RunCounts } from "./estimate.ts";
import { interrupted } from "./interruption.ts";
import type { CallPlan } from "./plan-calls.ts";
import { type CompleteRun, giveResults } from "./results.ts";
import { readRunContext, type RunContext } from "./run-context.ts";

/** A run that a store has planned. */
interface PlannedRun {
  readonly plan: CallPlan;
  /** @default those of the plan */
  readonly counts?: RunCounts | undefined;
  /** Asks for the missing answers; null for a dry run. */
  readonly ask: ((price: RunPrice) => Promise<AskedRun>) | null;
}

/** A run that a store has asked about. */
export interface AskedRun {
  /** Its counts and cost in one line. */
  readonly line: string;
  /** The records that have an answer. */
  readonly kept: number;
  /** Why the run ended before each record had its end; null if it is complete. */
  readonly stoppedBy: string | null;
  /** The records that were not asked about, if a maximum cost stopped the run. */
  readonly notAsked: number | null;
  readonly results: () => CompleteRun | Promise<CompleteRun>;
}

/** Plans a run in a store, and closes the store after use. */
export type PlanRun = (
  context: RunContext,
  use: (run: PlannedRun) => Promise<number>,
) => Promise<number>;

/**
 * Runs over one input: checks everything, asks for the missing answers, writes the results, prints the table;
 * returns the exit code, 0 or 2.
 *
 * @throws CliError if it cannot go on or is interrupted; no results are written then.
 */
export async function startRun(
  run: RunCommand,
  planRun: PlanRun,
  program: ProgramContext,
): Promise<number> {
  const context = await readRunContext(run, program);
  const { stderr, outputPath, inputPath, service, signal } = context;
  stderr.write(describeEngine(service));
  if (!run.dryRun) await checkOutput(outputPath, [inputPath], context);
  return await planRun(context, async ({ plan, counts, ask }) => {
    const price = await announceRun(plan, context, counts);
    if (ask === null) return 0;
    const askedRun = await ask(price);
    stderr.write(askedRun.line);
    checkComplete(askedRun, plan.length, signal);
    return await giveResults(await askedRun.results(), context);
  });
}

/** Throws the error of a run that did not ask about all its records, or was interrupted. */
function checkComplete(
  { kept: keptCount, stoppedBy, notAsked }: AskedRun,
  length: number,
  signal: AbortSignal,
): void {
  const keptText = `${keptCount} of ${length} answers are kept`;
  const next = `${keptText}; the same command asks for the rest.`;
  if (signal.aborted) throw interrupted(`Interrupted; no results written. ${next}`, signal);
  if (stoppedBy === null) return;
  const raised = `${keptText}, and ${printCounted(notAsked ?? 0, "record")} not asked; raise --max-cost for the rest.`;
  const advice = notAsked === null ? next : raised;
  throw new CliError(`Stopped: ${toPrintable(stoppedBy)}\nNo results written. ${advice}`);
}

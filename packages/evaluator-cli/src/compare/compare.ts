import { type CliContext, exitCodes, UsageError } from "evaluator-kit";
import type { CompareOptions } from "../commands/ask-commands.ts";
import { askEngines } from "./ask-engines.ts";
import { readAsked } from "./asked.ts";
import { compareEngines, type Comparison } from "./comparison.ts";
import { writeComparison } from "./comparison-report.ts";

/** Asks several engines the same questions, and prints and writes how they compare. */
export async function compare(options: CompareOptions, context: CliContext): Promise<void> {
  checkOptions(options);
  const asked = await readAsked(options, context);
  const answered = await askEngines(asked, context);
  const comparison = compareEngines(answered, asked);
  await writeComparison(comparison, options, context);
  context.exitCode = endingOf(comparison);
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

function endingOf({ questions, margin }: Comparison): number {
  if (margin === null) return exitCodes.done;
  const judgements = new Set(
    questions.flatMap(({ engines }) => engines.map(({ judgement }) => judgement)),
  );
  if (judgements.has("worse")) return exitCodes.failed;
  return judgements.has("not shown") ? exitCodes.notEnoughEvidence : exitCodes.done;
}

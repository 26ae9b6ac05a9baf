import { join } from "node:path";
import { type CliContext, CliError, printable, exitCodes } from "evaluator-kit";
import type { Command } from "../command.ts";
import { readEngine } from "../engines/engine.ts";
import { describeWritten, makeFolder, writeReport } from "../files/write-report.ts";
import { comparisonPage } from "./comparison-page.ts";
import { AnswerStore, callKeys } from "./answer-store.ts";
import { askEngine, type AskedEngine, Budget } from "./ask-engines.ts";
import { type CompareArguments, compareUsage, parseCompareArguments } from "./compare-arguments.ts";
import { compareEngines, type Comparison } from "./comparison.ts";
import { printComparison } from "./print-comparison.ts";
import { type Asked, readAsked } from "./read-asked.ts";

/** Asks several engines the same, and says how they compare. */
export const compareCommand: Command = {
  examples: [
    "evaluator compare labels.ndjson --states inbox.triage.sqlite --engine gateway --engine logprobs=http://127.0.0.1:11434@qwen3:4b --max-cost 1",
  ],
  usage: compareUsage.trimStart(),
  run: async (words, context) => await compare(parseCompareArguments(words), context),
};

async function compare(options: CompareArguments, context: CliContext): Promise<number> {
  const engines = options.engines.map((text) => readEngine(text, context.env));
  const asked = await readAsked(options, context);
  const folder = await makeFolder(options.out, context);
  const answered = await askAll(engines, { asked, options, folder, context });
  const comparison = compareEngines(answered, asked, options);
  const json = JSON.stringify(comparison, null, 2);
  const files = [
    ["report.html", comparisonPage(comparison)],
    ["report.json", `${json}\n`],
  ] as const;
  await writeReport(options.out, files, context);
  context.stdout.write(options.json ? `${json}\n` : printComparison(comparison));
  const names = ["report.html", "report.json", "answers.sqlite"];
  context.stderr.write(describeWritten(options.out, names));
  return endingOf(comparison);
}

/** Asks one engine after the other, so that none slows down another's answers. */
async function askAll(
  engines: readonly AskedEngine["engine"][],
  {
    asked,
    options,
    folder,
    context,
  }: {
    readonly asked: Asked;
    readonly options: CompareArguments;
    readonly folder: string;
    readonly context: CliContext;
  },
): Promise<AskedEngine[]> {
  using store = await AnswerStore.open(join(folder, "answers.sqlite"));
  const { concurrency, maxCostUsd } = options;
  const calls = callKeys(asked.states, asked.questions);
  const budget = new Budget(maxCostUsd);
  const answered: AskedEngine[] = [];
  for (const engine of engines) {
    const one = await askEngine(engine, asked, { store, calls, budget, context, concurrency });
    const [failure] = one.failures.values();
    if (one.evaluations.size === 0 && failure !== undefined) {
      throw new CliError(printable`${engine.name} answered nothing. ${failure}`);
    }
    answered.push(one);
  }
  return answered;
}

function endingOf({ questions, margin }: Comparison): number {
  if (margin === null) return exitCodes.done;
  const judgements = new Set(
    questions.flatMap(({ engines }) => engines.map(({ judgement }) => judgement)),
  );
  if (judgements.has("worse")) return exitCodes.failed;
  return judgements.has("not shown") ? exitCodes.notEnoughEvidence : exitCodes.done;
}

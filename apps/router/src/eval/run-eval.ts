import { basename, resolve } from "node:path";
import { checkOutput, type CliContext, writeWholeFile } from "evaluator-kit";
import { isPage, reportsBeside } from "evaluator-kit/page";
import { toDecider } from "../decision/decide.ts";
import type { Decider } from "../decision/decision.ts";
import { tierCosts } from "../labels/tier-points.ts";
import { readRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { type DecidedPrompt, decidePrompts } from "./decided-prompts.ts";
import { describeFigures, evalPage } from "./eval-page.ts";
import { evaluateRouting, judgePrompts } from "./evaluate-routing.ts";

interface EvalOptions {
  readonly out?: string | undefined;
  readonly decisions?: string | undefined;
  readonly draws: number;
  readonly seed: number;
  readonly json?: true | undefined;
}

/** Reads a file of labelled prompts, decides them, and prints the figures. */
export async function runEval(promptsFile: string, command: EvalOptions, context: CliContext) {
  const { env, cwd, stdout, signal } = context;
  const path = resolve(cwd, promptsFile);
  const basePath = path.replace(/\.(?:ndjson|jsonl|json)$/, "");
  const {
    out = `${basePath}.eval.html`,
    decisions = `${basePath}.decisions.ndjson`,
    draws,
    seed,
  } = command;
  const options = await readRouterOptions(env, cwd);
  const [pagePath, keptPath] = [resolve(cwd, out), resolve(cwd, decisions)];
  await checkOutput(pagePath, [path, keptPath], { isOwn: isPage });
  const services = connectServices(options);
  try {
    const { decided: decidedPrompts, asked: askedTotals } = await decidePrompts(path, keptPath, {
      services,
      context,
    });
    const costBasis = await tierCosts(services, signal);
    const judgedPrompts = judgePrompts(decidedPrompts, options, costBasis.of);
    const figures = {
      name: basename(path),
      decider: deciderOfAll(decidedPrompts),
      costBasis: decidedPrompts.some((prompt) => prompt.costs !== null)
        ? "from the file"
        : costBasis.basis,
      asked: askedTotals,
      ...evaluateRouting(judgedPrompts, {
        draws,
        seed,
        minConfidence: options.policy.minConfidence,
      }),
    };
    const pageHtml = evalPage(figures, await reportsBeside(pagePath));
    await writeWholeFile(pagePath, pageHtml, { isPublic: true });
    stdout.write(
      command.json === true
        ? `${JSON.stringify(figures)}\n`
        : `${describeFigures(figures)}The page with the curves: ${out}\n`,
    );
  } finally {
    await services.close();
  }
}

/** All models that made decisions; it is emulated if any decision is. */
function deciderOfAll(prompts: readonly DecidedPrompt[]): Decider {
  const all = prompts.map(({ decision }) => toDecider(decision.evaluatorModelId, decision.wire));
  const modelIds = new Set(all.flatMap(({ modelId }) => modelId ?? []));
  const emulationStates = new Set(all.map(({ isEmulated }) => isEmulated));
  const isEmulated = [true, null, false].find((each) => emulationStates.has(each)) ?? null;
  return { modelId: [...modelIds].join(" and ") || null, isEmulated };
}

import { basename, resolve } from "node:path";
import { type CliContext, UsageError, writeWholeFile } from "evaluator-kit";
import { deciderOf } from "../decision/decide.ts";
import type { Decider } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import { readPriceList } from "../refresh-prices.ts";
import { CHARACTERS_PER_TOKEN, type PriceList } from "../reply/tokens.ts";
import { parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import type { Services } from "../services/connect-services.ts";
import { decidePrompts } from "./decide-prompts.ts";
import { describeFigures, evalPage, type EvalSource } from "./eval-page.ts";
import { evaluateRouting } from "./evaluate-routing.ts";
import { judgePrompts } from "./policies.ts";
import { type KnownDecision, readPrompts } from "./read-prompts.ts";

interface EvalOptions {
  readonly out?: string | undefined;
  readonly decisions?: string | undefined;
  readonly draws: number;
  readonly seed: number;
  readonly json?: true | undefined;
}

/** Reads a file of labelled prompts, decides them, and prints the figures. */
export async function runEval(file: string, typed: EvalOptions, context: CliContext) {
  const { env, cwd, stdout, stderr, signal } = context;
  const path = resolve(cwd, file);
  const base = path.replace(/\.(?:ndjson|jsonl|json)$/, "");
  const { out = `${base}.eval.html`, decisions = `${base}.decisions.ndjson`, draws, seed } = typed;
  const prompts = await readPrompts(path);
  if (prompts.length === 0) throw new UsageError("The file has no labelled prompt.");
  const options = parseRouterOptions(env);
  const services = connectServices(options.engines);
  try {
    const { known, asked } = await decidePrompts(prompts, {
      services,
      options,
      path: resolve(cwd, decisions),
      signal,
      progress: (text) => void stderr.write(text),
    });
    const tierModels = tierNames.map((tier) => options.tierModels[tier]);
    const costs = await tierCosts(services, tierModels, signal);
    const hasCosts = prompts.some((prompt) => prompt.costs !== null);
    const source: EvalSource = {
      name: basename(path),
      decider: deciderOfAll(known),
      context: options.context,
      costBasis: hasCosts ? "from the file" : costs.basis,
      asked,
    };
    const judged = judgePrompts(prompts, { known, tierModels, costOf: costs.of });
    const figures = evaluateRouting(judged, { draws, seed, policy: options.policy });
    await writeWholeFile(resolve(cwd, out), evalPage(figures, source));
    stdout.write(
      typed.json === true
        ? `${JSON.stringify({ ...source, ...figures })}\n`
        : `${describeFigures(figures, source)}The page with the curves: ${out}\n`,
    );
  } finally {
    await services.close();
  }
}

/** All models that made decisions; it is emulated if any decision is. */
function deciderOfAll(known: readonly KnownDecision[]): Decider {
  const all = known.map(({ modelId, wire }) => deciderOf(modelId, wire));
  const models = new Set(all.flatMap(({ modelId }) => modelId ?? []));
  const emulated = new Set(all.map(({ isEmulated }) => isEmulated));
  const isEmulated = [true, null, false].find((each) => emulated.has(each)) ?? null;
  return { modelId: [...models].join(" and ") || null, isEmulated };
}

/** Tokens of a reply, for costs at list prices. */
const REPLY_TOKENS = 300;

async function tierCosts(
  { catalog }: Services,
  tierModels: readonly string[],
  signal: AbortSignal,
): Promise<{ of: (characters: number) => readonly number[]; basis: string }> {
  const none: PriceList = new Map();
  const prices = catalog === null ? none : await readPriceList(catalog, signal).catch(() => none);
  const known = tierModels.flatMap((model) => prices.get(model) ?? []);
  if (known.length < tierModels.length) {
    return { of: () => [0, 1, 2, 3], basis: "the tiers' places, 0 to 3, as no prices are known" };
  }
  return {
    of: (characters) =>
      known.map((price) => {
        const input = Math.ceil(characters / CHARACTERS_PER_TOKEN) * price.inputUsdPerMillionTokens;
        return (input + REPLY_TOKENS * price.outputUsdPerMillionTokens) / 1_000_000;
      }),
    basis: `US dollars at the tiers' list prices, for replies of ${REPLY_TOKENS} tokens`,
  };
}

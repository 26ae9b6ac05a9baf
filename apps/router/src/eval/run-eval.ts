import { basename, resolve } from "node:path";
import {
  type CliContext,
  exitCodes,
  parseWords,
  readWholeNumber,
  UsageError,
  writeWholeFile,
} from "evaluator-kit";
import { deciderOf, wireOf } from "../decision/decider.ts";
import type { Decider } from "../decision/decision.ts";
import { type ReadConversation, createConversationReader } from "../openai/conversation.ts";
import { parseRouterOptions, type RouterOptions } from "../options/router-options.ts";
import { CHARACTERS_PER_TOKEN, type PriceList } from "../prices/tokens.ts";
import { readPriceList } from "../prices/refresh-prices.ts";
import { connectServices } from "../services/connect-services.ts";
import type { Services } from "../services/services.ts";
import { type Tier, tierNames, tierQuestions } from "../tier-question.ts";
import { describeFigures, type EvalSource } from "./describe-figures.ts";
import { evalPage } from "./eval-page.ts";
import { evaluateRouting } from "./evaluate-routing.ts";
import { decisionKey, type KeptDecisions, openKeptDecisions } from "./kept-decisions.ts";
import { judge, type JudgedPrompt, rankModels, type TierCosts } from "./policies.ts";
import { type EvalPrompt, type KnownDecision, readPrompts } from "./read-prompts.ts";

export const evalUsage = `Usage: npm run router:eval -- PROMPTS [options]

Says what the routing of labelled prompts is worth, beside always the cheapest tier, always frontier,
chance and prompt length.
PROMPTS   NDJSON: { prompt or messages, tier } or { prompt or messages, scores: { model: 0..1 }, costs? };
          or the router's decision log, in which POST /feedback is the label

  --out FILE      the page with the curves [PROMPTS.eval.html]
  --decisions F   where decisions are kept, so that a second run costs nothing [PROMPTS.decisions.ndjson]
  --draws N       draws behind each interval [300]
  --seed N        of what is drawn at random [1]
  --json          prints the figures as JSON
The engine, ROUTER_CONTEXT, ROUTER_MIN_CONFIDENCE and ROUTER_TIES are read as the router reads them.`;

/** What was typed, with every path whole but that of the page, which is printed as typed. */
type EvalArguments = ReturnType<typeof parseEvalArguments>;

function parseEvalArguments(words: readonly string[], cwd: string) {
  const { values, positionals } = parseWords(words, {
    out: { type: "string" },
    decisions: { type: "string" },
    draws: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageError("Name one file of prompts.");
  const path = resolve(cwd, file);
  const base = path.replace(/\.(?:ndjson|jsonl|json)$/, "");
  return {
    path,
    out: values.out ?? `${base}.eval.html`,
    decisions: resolve(cwd, values.decisions ?? `${base}.decisions.ndjson`),
    draws: readWholeNumber("--draws", values.draws, { min: 1, max: 10_000 }),
    seed: readWholeNumber("--seed", values.seed, { max: 2 ** 31 }),
    isJson: values.json,
  };
}

/** Reads the prompts, decides what is not decided yet, and says what the routing is worth. */
export async function runEval(words: readonly string[], context: CliContext): Promise<number> {
  const { env, cwd, stdout } = context;
  const typed = parseEvalArguments(words, cwd);
  const prompts = await readPrompts(typed.path);
  if (prompts.length === 0) throw new UsageError("The file has no labelled prompt.");
  const options = parseRouterOptions(env);
  const services = connectServices(options.engines);
  try {
    const { judged, source } = await judgeAll(prompts, { typed, options, services, context });
    const figures = evaluateRouting(judged, { ...typed, policy: options.policy });
    await writeWholeFile(resolve(cwd, typed.out), evalPage(figures, source));
    stdout.write(
      typed.isJson
        ? `${JSON.stringify({ ...source, ...figures })}\n`
        : `${describeFigures(figures, source)}The page with the curves: ${typed.out}\n`,
    );
    return exitCodes.done;
  } finally {
    await services.close();
  }
}

interface JudgeOptions {
  readonly typed: EvalArguments;
  readonly options: RouterOptions;
  readonly services: Services;
  readonly context: CliContext;
}

async function judgeAll(
  prompts: readonly EvalPrompt[],
  { typed, options, services, context: { stderr, signal } }: JudgeOptions,
): Promise<{ judged: JudgedPrompt[]; source: EvalSource }> {
  const isKept = prompts.every(({ decision }) => decision !== null);
  const kept = isKept ? null : await openKeptDecisions(typed.decisions);
  const progress = (text: string) => void stderr.write(text);
  const asking = { services, options, kept, signal, progress };
  const { known, asked } = await decideAll(prompts, asking).finally(() => kept?.close());
  const tierModels = tierNames.map((tier) => options.tierModels[tier]);
  const costs = await tierCosts(services, tierModels, signal);
  const ranked = rankModels(prompts);
  const seen = new Set<string>();
  const judged = prompts.map((prompt, at) => {
    const text = JSON.stringify(prompt.messages);
    const isRepeat = prompt.messages.length > 0 && seen.has(text);
    seen.add(text);
    const decision = known[at] as KnownDecision;
    return judge(prompt, { decision, isRepeat, tierModels, costs, ranked });
  });
  const source = {
    name: basename(typed.path),
    decider: deciderOfAll(known),
    context: options.context,
    costBasis: prompts.some(({ costs }) => costs !== null) ? "as the file says" : costs.basis,
    asked,
  };
  return { judged, source };
}

/** Who made the decisions: all their models, and the emulator if it made any. */
function deciderOfAll(known: readonly KnownDecision[]): Decider {
  const all = known.map(({ modelId, wire }) => deciderOf(modelId, wire));
  const models = new Set(all.flatMap(({ modelId }) => modelId ?? []));
  const emulated = new Set(all.map(({ isEmulated }) => isEmulated));
  const isEmulated = [true, null, false].find((each) => emulated.has(each)) ?? null;
  return { modelId: [...models].join(" and ") || null, isEmulated };
}

interface DecideOptions {
  readonly services: Services;
  readonly options: RouterOptions;
  readonly kept: KeptDecisions | null;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** One state that a decision is wanted for. */
interface Wanted {
  readonly key: string;
  readonly state: ReturnType<ReadConversation>["state"];
}

/** Decides every prompt; each different state is asked once, and never again while its file is there. */
async function decideAll(
  prompts: readonly EvalPrompt[],
  { services, options, kept, signal, progress }: DecideOptions,
): Promise<{ known: KnownDecision[]; asked: EvalSource["asked"] }> {
  const asked = { paid: 0, costUsd: 0, kept: 0 };
  const { evaluator, engineAddress } = services;
  const model = options.engines.evaluator?.["EVALUATOR_MODEL_ID"] ?? "";
  const isSticky = options.context === "sticky";
  const read = createConversationReader(isSticky ? "last" : options.context);
  const wantedOf = (messages: EvalPrompt["messages"]): Wanted => {
    const { state } = read(messages as Parameters<ReadConversation>[0]);
    return { state, key: decisionKey(state, `${engineAddress} ${model}`) };
  };
  // A conversation's tier only rises: every message of its user was decided in its turn.
  const turns = prompts.map(({ messages, decision }) => {
    if (decision !== null) return [];
    const ends = [...messages.keys()].filter((at) => messages[at]?.role === "user");
    const starts = isSticky ? ends : ends.slice(-1);
    return starts.map((end) => wantedOf(messages.slice(0, end + 1)));
  });
  const missing = new Map<string, Wanted>();
  for (const wanted of turns.flat()) {
    if (kept?.get(wanted.key) === undefined) missing.set(wanted.key, wanted);
    else asked.kept += 1;
  }
  const wanted = [...missing.values()];
  const requests = wanted.map(({ state }) => ({ state: { ...state }, questions: tierQuestions }));
  for await (const item of evaluator.evaluateMany(requests, { order: "completion", signal })) {
    if (item.status === "failed") throw item.error;
    const { answers, confidence, costUsd, modelId } = item.evaluation;
    const { choice, probabilities } = answers.tier;
    await kept?.add(wanted[item.index]?.key ?? "", {
      choice,
      probabilities,
      confidence: confidence.tier,
      modelId,
      wire: wireOf(item.evaluation, engineAddress),
    });
    asked.paid += 1;
    asked.costUsd += costUsd ?? 0;
    if (asked.paid % 1000 === 0) progress(`${asked.paid} of ${wanted.length} decided\n`);
  }
  const known = prompts.map(({ decision }, at) => {
    const made = (turns[at] ?? []).flatMap(({ key }) => kept?.get(key) ?? []);
    return decision ?? risen(made);
  });
  return { known, asked };
}

/** The last decision, or the highest before it: as the router takes it in a conversation. */
function risen(made: readonly KnownDecision[]): KnownDecision {
  const [first, ...rest] = made;
  if (first === undefined) throw new UsageError("A prompt has no message of its user.");
  return rest.reduce(
    (before, decision) => (rankOf(decision) >= rankOf(before) ? decision : before),
    first,
  );
}

function rankOf({ choice }: { readonly choice: Tier }): number {
  return tierNames.indexOf(choice);
}

/** Tokens of a reply that costs are computed for, where the file names none. */
const REPLY_TOKENS = 300;

async function tierCosts(
  { catalog }: Services,
  tierModels: readonly string[],
  signal: AbortSignal,
): Promise<TierCosts> {
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

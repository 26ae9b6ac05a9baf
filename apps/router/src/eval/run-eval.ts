import { basename, resolve } from "node:path";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type CliContext,
  systemErrorCode,
  toFileError,
  UsageError,
  writeWholeFile,
} from "evaluator-kit";
import { z } from "zod";
import { deciderOf, wireOf } from "../decision/decide.ts";
import type { Decider, TierState } from "../decision/decision.ts";
import { tierNames, tierQuestionHash, tierQuestions } from "../decision/tier-question.ts";
import { readPriceList } from "../refresh-prices.ts";
import { CHARACTERS_PER_TOKEN, type PriceList } from "../reply/reply.ts";
import { parseRouterOptions, type RouterOptions } from "../router-options.ts";
import { connectServices, type Services } from "../services/connect-services.ts";
import { describeFigures, evalPage } from "./eval-page.ts";
import { evaluateRouting } from "./evaluate-routing.ts";
import {
  type EvalPrompt,
  judgePrompts,
  type KnownDecision,
  knownSchema,
  readPrompts,
} from "./prompts.ts";
import { createConversationReader } from "../openai/conversation.ts";
import { openLineFile } from "../records/decision-log.ts";
import { parsedLine } from "../report/read-records.ts";

interface EvalOptions {
  readonly out?: string | undefined;
  readonly decisions?: string | undefined;
  readonly draws: number;
  readonly seed: number;
  readonly json?: true | undefined;
}

/** Reads a file of labelled prompts, decides them, and prints the figures. */
export async function runEval(file: string, typed: EvalOptions, context: CliContext) {
  const { env, cwd, stdout, signal } = context;
  const path = resolve(cwd, file);
  const base = path.replace(/\.(?:ndjson|jsonl|json)$/, "");
  const { out = `${base}.eval.html`, decisions = `${base}.decisions.ndjson`, draws, seed } = typed;
  const prompts = await readPrompts(path);
  if (prompts.length === 0) throw new UsageError("The file has no labelled prompt.");
  const options = parseRouterOptions(env);
  const services = connectServices(options.engines);
  try {
    const run = { services, options, context };
    const { decided, asked } = await decidePrompts(prompts, resolve(cwd, decisions), run);
    const { policy, tierModels } = options;
    const costs = await tierCosts(services, tierModels, signal);
    const judged = judgePrompts(decided, { policy, tierModels, costsOf: costs.of });
    const figures = {
      name: basename(path),
      decider: deciderOfAll(decided.map(({ decision }) => decision)),
      context: options.context,
      costBasis: prompts.some((prompt) => prompt.costs !== null) ? "from the file" : costs.basis,
      asked,
      ...evaluateRouting(judged, { draws, seed, minConfidence: policy.minConfidence }),
    };
    await writeWholeFile(resolve(cwd, out), evalPage(figures));
    stdout.write(
      typed.json === true
        ? `${JSON.stringify(figures)}\n`
        : `${describeFigures(figures)}The page with the curves: ${out}\n`,
    );
  } finally {
    await services.close();
  }
}

/** All models that made decisions; it is emulated if any decision is. */
function deciderOfAll(decisions: readonly KnownDecision[]): Decider {
  const all = decisions.map(({ modelId, wire }) => deciderOf(modelId, wire));
  const models = new Set(all.flatMap(({ modelId }) => modelId ?? []));
  const emulated = new Set(all.map(({ isEmulated }) => isEmulated));
  const isEmulated = [true, null, false].find((each) => emulated.has(each)) ?? null;
  return { modelId: [...models].join(" and ") || null, isEmulated };
}

/** Tokens of a reply, for costs at list prices. */
const REPLY_TOKENS = 300;

async function tierCosts(
  { catalog }: Services,
  tierModels: RouterOptions["tierModels"],
  signal: AbortSignal,
): Promise<{ of: (characters: number) => readonly number[]; basis: string }> {
  const none: PriceList = new Map();
  const prices = catalog === null ? none : await readPriceList(catalog, signal).catch(() => none);
  const known = tierNames.flatMap((tier) => prices.get(tierModels[tier]) ?? []);
  if (known.length < tierNames.length) {
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

interface EvalRun {
  readonly services: Services;
  readonly options: RouterOptions;
  readonly context: CliContext;
}

/** Decides every prompt. Each different state is asked once, also over several runs. */
async function decidePrompts(prompts: readonly EvalPrompt[], path: string, run: EvalRun) {
  const asked = { paid: 0, costUsd: 0, kept: 0 };
  const known = prompts.flatMap(({ decision, ...rest }) => (decision ? { ...rest, decision } : []));
  if (known.length === prompts.length) return { decided: known, asked };
  const kept = await openKeptDecisions(path);
  try {
    const turns = wantedDecisions(prompts, run);
    const missing = new Map<string, WantedDecision>();
    for (const wanted of turns.flat()) {
      if (kept.get(wanted.key) === undefined) missing.set(wanted.key, wanted);
      else asked.kept += 1;
    }
    for await (const costUsd of askFor([...missing.values()], kept, run)) {
      asked.paid += 1;
      asked.costUsd += costUsd ?? 0;
      if (asked.paid % 1000 === 0) {
        run.context.stderr.write(`${asked.paid} of ${missing.size} decided\n`);
      }
    }
    const decided = prompts.map((prompt, at) => {
      const made = (turns[at] ?? []).flatMap(({ key }) => kept.get(key) ?? []);
      return { ...prompt, decision: prompt.decision ?? highest(made) };
    });
    return { decided, asked };
  } finally {
    await kept.close();
  }
}

/** In the mode `sticky`, a conversation's tier only rises, so every message of its user counts. */
function wantedDecisions(prompts: readonly EvalPrompt[], { services, options }: EvalRun) {
  const isSticky = options.context === "sticky";
  const read = createConversationReader(isSticky ? "last" : options.context);
  const model = options.engines.evaluator?.["EVALUATOR_MODEL_ID"] ?? "";
  return prompts.map(({ messages, decision }) => {
    if (decision !== null) return [];
    const ends = [...messages.keys()].filter((at) => messages[at]?.role === "user");
    const starts = isSticky ? ends : ends.slice(-1);
    return starts.map((end) => {
      const { state } = read(messages.slice(0, end + 1));
      return { state, key: decisionKey(state, `${services.engineAddress} ${model}`) };
    });
  });
}

/** Identifies a decision by its state and engine; the text itself is not kept. */
function decisionKey(state: TierState, engine: string): string {
  const asked = JSON.stringify([engine, tierQuestionHash, state.user_message, state.earlier_turns]);
  return createHash("sha256").update(asked).digest("base64url");
}

type WantedDecision = ReturnType<typeof wantedDecisions>[number][number];

/** Keeps each decision, and yields its cost. */
async function* askFor(
  wanted: readonly WantedDecision[],
  kept: Awaited<ReturnType<typeof openKeptDecisions>>,
  { services: { evaluator, engineAddress }, context: { signal } }: EvalRun,
) {
  const requests = wanted.map(({ state }) => ({ state: { ...state }, questions: tierQuestions }));
  for await (const item of evaluator.evaluateMany(requests, { order: "completion", signal })) {
    if (item.status === "failed") throw item.error;
    const { answers, confidence, costUsd, modelId } = item.evaluation;
    const { choice, probabilities } = answers.tier;
    await kept.add(wanted[item.index]?.key ?? "", {
      choice,
      probabilities,
      confidence: confidence.tier,
      modelId,
      wire: wireOf(item.evaluation, engineAddress),
    });
    yield costUsd;
  }
}

/** The decision with the highest tier, the last of equals. */
function highest(made: readonly KnownDecision[]): KnownDecision {
  const [first, ...rest] = made;
  if (first === undefined) throw new UsageError("A prompt has no message of its user.");
  return rest.reduce(
    (before, next) =>
      tierNames.indexOf(next.choice) >= tierNames.indexOf(before.choice) ? next : before,
    first,
  );
}

const keptSchema = knownSchema.extend({ key: z.string() });

const advice = "Name another file with --decisions.";

/** Opens or creates the file of paid decisions; an invalid line is asked again. */
async function openKeptDecisions(path: string) {
  const decisions = new Map<string, KnownDecision>();
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return "";
    throw toFileError(error, `read ${path}`, advice);
  });
  for (const line of text.split("\n")) {
    const kept = parsedLine(line, keptSchema);
    if (kept !== null) decisions.set(kept.key, kept);
  }
  const file = await openLineFile(path).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, advice);
  });
  return {
    get: (key: string) => decisions.get(key),
    /** Resolves after the decision is in the file. */
    async add(key: string, decision: KnownDecision) {
      decisions.set(key, decision);
      const line = `${JSON.stringify({ key, ...decision })}\n`;
      await file.add([line]).catch(({ cause }: Error) => {
        throw toFileError(cause, `write ${path}`, advice);
      });
    },
    close: () => file.close(),
  };
}

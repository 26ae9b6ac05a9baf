import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { systemErrorCode, toFileError, UsageError } from "evaluator-kit";
import { z } from "zod";
import { wireOf } from "../decision/decide.ts";
import type { TierState } from "../decision/decision.ts";
import { tierNames, tierQuestionHash, tierQuestions } from "../decision/tier-question.ts";
import { createConversationReader, type ReadConversation } from "../openai/conversation.ts";
import { openLineFile } from "../records/decision-log.ts";
import { parsedLine } from "../report/read-records.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Services } from "../services/connect-services.ts";
import { type EvalPrompt, type KnownDecision, knownSchema } from "./read-prompts.ts";

interface DecideOptions {
  readonly services: Services;
  readonly options: RouterOptions;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

interface WantedDecision {
  readonly key: string;
  readonly state: TierState;
}

/** Decides every prompt. Each different state is asked once, also over several runs. */
export async function decidePrompts(prompts: readonly EvalPrompt[], options: DecideOptions) {
  const asked = { paid: 0, costUsd: 0, kept: 0 };
  if (prompts.every(({ decision }) => decision !== null)) {
    return { known: prompts.flatMap(({ decision }) => decision ?? []), asked };
  }
  const kept = await openKeptDecisions(options.path);
  try {
    const turns = wantedDecisions(prompts, options);
    const missing = new Map<string, WantedDecision>();
    for (const wanted of turns.flat()) {
      if (kept.get(wanted.key) === undefined) missing.set(wanted.key, wanted);
      else asked.kept += 1;
    }
    await askFor([...missing.values()], kept, { ...options, asked });
    const known = prompts.map(({ decision }, at) => {
      const made = (turns[at] ?? []).flatMap(({ key }) => kept.get(key) ?? []);
      return decision ?? highest(made);
    });
    return { known, asked };
  } finally {
    await kept.close();
  }
}

/** In the mode `sticky`, a conversation's tier only rises, so every message of its user counts. */
function wantedDecisions(
  prompts: readonly EvalPrompt[],
  { services, options }: DecideOptions,
): WantedDecision[][] {
  const isSticky = options.context === "sticky";
  const read = createConversationReader(isSticky ? "last" : options.context);
  const model = options.engines.evaluator?.["EVALUATOR_MODEL_ID"] ?? "";
  return prompts.map(({ messages, decision }) => {
    if (decision !== null) return [];
    const ends = [...messages.keys()].filter((at) => messages[at]?.role === "user");
    const starts = isSticky ? ends : ends.slice(-1);
    return starts.map((end) => {
      const { state } = read(messages.slice(0, end + 1) as Parameters<ReadConversation>[0]);
      return { state, key: decisionKey(state, `${services.engineAddress} ${model}`) };
    });
  });
}

/** Identifies a decision by its state and engine; the text itself is not kept. */
function decisionKey(state: TierState, engine: string): string {
  const asked = JSON.stringify([engine, tierQuestionHash, state.user_message, state.earlier_turns]);
  return createHash("sha256").update(asked).digest("base64url");
}

async function askFor(
  wanted: readonly WantedDecision[],
  kept: KeptDecisions,
  {
    services,
    signal,
    progress,
    asked,
  }: DecideOptions & { asked: { paid: number; costUsd: number } },
): Promise<void> {
  const { evaluator, engineAddress } = services;
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
    asked.paid += 1;
    asked.costUsd += costUsd ?? 0;
    if (asked.paid % 1000 === 0) progress(`${asked.paid} of ${wanted.length} decided\n`);
  }
}

/** The decision with the highest tier, the last of equals. */
function highest(made: readonly KnownDecision[]): KnownDecision {
  const [first, ...rest] = made;
  if (first === undefined) throw new UsageError("A prompt has no message of its user.");
  return rest.reduce((before, next) => (rankOf(next) >= rankOf(before) ? next : before), first);
}

function rankOf({ choice }: KnownDecision): number {
  return tierNames.indexOf(choice);
}

const keptSchema = knownSchema.extend({ key: z.string() });

type KeptDecisions = Awaited<ReturnType<typeof openKeptDecisions>>;

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

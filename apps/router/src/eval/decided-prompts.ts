import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type CliContext,
  createProgress,
  systemErrorCode,
  toFileError,
  UsageError,
} from "evaluator-kit";
import { z } from "zod";
import { wireOf } from "../decision/decide.ts";
import { tierQuestionHash, tierQuestions } from "../decision/tier-question.ts";
import { decisionSchema, type Label, readLabels, toText } from "../labels/read-labels.ts";
import { openLineFile } from "../records/decision-log.ts";
import { parsedLine } from "../report/read-records.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Services } from "../services/connect-services.ts";

const keptSchema = decisionSchema.extend({ key: z.string() });

type KnownDecision = NonNullable<Label["decision"]>;

/** A prompt with its decision. */
export type DecidedPrompt = Label & { readonly decision: KnownDecision };

interface EvalRun {
  readonly services: Services;
  readonly options: RouterOptions;
  readonly context: CliContext;
}

/** Reads and decides labelled prompts. Each different state is asked once, also over several runs. */
export async function decidePrompts(path: string, keptPath: string, run: EvalRun) {
  const { stderr } = run.context;
  const prompts = await readLabels(path, (text) => void stderr.write(text));
  if (prompts.length === 0) throw new UsageError("The file has no labelled prompt.");
  const known = prompts.flatMap(({ decision, ...rest }) => (decision ? { ...rest, decision } : []));
  if (known.length === prompts.length) {
    return { decided: known, asked: { paid: 0, costUsd: 0, kept: 0 } };
  }
  const kept = await openKeptDecisions(keptPath);
  try {
    const all = prompts.map((prompt) => toKeyedState(prompt, run));
    const wanted = all.filter(({ prompt }) => prompt.decision === null);
    const missing = wanted.filter(({ key }) => kept.get(key) === undefined);
    const different = new Map(missing.map((each) => [each.key, each]));
    const paid = await askFor([...different.values()], kept, run);
    const decided = all.flatMap(({ prompt, key }) => {
      const decision = prompt.decision ?? kept.get(key);
      return decision === undefined ? [] : Object.assign(prompt, { decision });
    });
    return { decided, asked: { ...paid, kept: wanted.length - missing.length } };
  } finally {
    await kept.close();
  }
}

/** Returns a prompt with the state that decides, and its key among the kept decisions, which hides its text. */
function toKeyedState(prompt: Label, { services, options }: EvalRun) {
  const model = options.engines.evaluator?.["EVALUATOR_MODEL_ID"] ?? "";
  const state = { user_message: toText(prompt.messages) };
  const asked = [`${services.engineAddress} ${model}`, tierQuestionHash, state.user_message];
  return { prompt, state, key: hash("sha256", JSON.stringify(asked), "base64url") };
}

/** Keeps each decision, and returns their number and cost. */
async function askFor(
  wanted: readonly ReturnType<typeof toKeyedState>[],
  kept: Awaited<ReturnType<typeof openKeptDecisions>>,
  { services: { evaluator, engineAddress }, context }: EvalRun,
) {
  const { signal } = context;
  const progress = createProgress(context);
  const sums = { paid: 0, costUsd: 0 };
  const requests = wanted.map(({ state }) => ({ state: { ...state }, questions: tierQuestions }));
  for await (const item of evaluator.evaluateMany(requests, { order: "completion", signal })) {
    if (item.status === "failed") throw item.error;
    const { answers, confidence, costUsd, modelId } = item.evaluation;
    const { choice: tierChosen, probabilities } = answers.tier;
    await kept.add(wanted[item.index]?.key ?? "", {
      tierChosen,
      probabilities,
      confidence: confidence.tier,
      evaluatorModelId: modelId,
      wire: wireOf(item.evaluation, engineAddress),
    });
    sums.paid += 1;
    sums.costUsd += costUsd ?? 0;
    progress.show(() => `${sums.paid} of ${wanted.length} decided`);
  }
  progress.end();
  return sums;
}

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

import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  CliError,
  type CliContext,
  parseJson,
  systemErrorCode,
  toFileError,
  UsageError,
} from "evaluator-kit";
import { z } from "zod";
import { wireOf } from "../decision/decide.ts";
import {
  type Tier,
  tierNames,
  tierQuestionHash,
  tierQuestions,
} from "../decision/tier-question.ts";
import { toTierState } from "../conversation/user-turns.ts";
import { openLineFile } from "../records/decision-log.ts";
import { feedbackSchema, parsedLine, readLines } from "../report/read-records.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Services } from "../services/connect-services.ts";

const tier = z.enum(tierNames, `is none of ${tierNames.join(", ")}`);
/** A decision in the decision log, or in the file of kept decisions. */
const knownSchema = z.object({
  tierChosen: tier,
  probabilities: z.record(tier, z.number()),
  confidence: z.number().nullable(),
  promise: z.object({ act: z.string().nullable() }).nullish(),
  evaluatorModelId: z.string().nullable().default(null),
  wire: z.string().nullable().default(null),
});

const keptSchema = knownSchema.extend({ key: z.string() });
const loggedSchema = knownSchema.extend({ requestId: z.string() });

type KnownDecision = z.infer<typeof knownSchema>;

const message = z.object({ role: z.string(), content: z.string() });
const promptSchema = z
  .object(
    {
      prompt: z.string().optional(),
      messages: z
        .array(message)
        .refine((all) => all.some(({ role }) => role === "user"), "has no message of the user")
        .optional(),
      /** The right tier, unless it follows from the scores. */
      tier: tier.optional(),
      /** Quality of each model's answer, 0..1. */
      scores: z.record(z.string(), z.number().min(0).max(1)).optional(),
      costs: z.record(z.string(), z.number().min(0)).optional(),
    },
    "is no JSON object",
  )
  .refine(({ prompt, messages }) => (prompt ?? messages) !== undefined, "has no prompt or messages")
  .refine((line) => (line.tier ?? line.scores) !== undefined, "has neither tier nor scores")
  .refine(
    ({ scores }) => scores === undefined || Object.keys(scores).length > 1,
    "has scores of one model; two at least are compared",
  )
  .refine(
    ({ scores = { "": 0 }, costs = scores }) =>
      Object.keys(scores).every((model) => Object.hasOwn(costs, model)),
    "has costs, but not of all models that it scores",
  )
  .transform(({ prompt = "", messages = [{ role: "user", content: prompt }], ...judged }) => {
    const { tier = null, scores = null, costs = null } = judged;
    return { messages, tier, scores, costs };
  });

/** A labelled prompt; a line of the decision log has a decision and no messages. */
type EvalPrompt = z.infer<typeof promptSchema> & { readonly decision: KnownDecision | null };

/** A prompt with its decision. */
export type DecidedPrompt = EvalPrompt & { readonly decision: KnownDecision };

interface EvalRun {
  readonly services: Services;
  readonly options: RouterOptions;
  readonly context: CliContext;
}

/** Reads and decides labelled prompts. Each different state is asked once, also over several runs. */
export async function decidePrompts(path: string, keptPath: string, run: EvalRun) {
  const prompts = await readPrompts(path);
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

/** Reads labelled prompts or a decision log. @throws CliError that names the line, not its text. */
async function readPrompts(path: string): Promise<EvalPrompt[]> {
  const prompts: EvalPrompt[] = [];
  const decided = new Map<string, KnownDecision>();
  const feedbackOf = new Map<string, Tier>();
  let number = 0;
  for await (const line of readLines(path)) {
    number += 1;
    if (line.trim() === "") continue;
    const value = parseJson(line);
    const { data: feedback } = feedbackSchema.safeParse(value);
    const { data: record } = loggedSchema.safeParse(value);
    if (feedback !== undefined) feedbackOf.set(feedback.requestId, feedback.feedback);
    else if (record !== undefined) decided.set(record.requestId, record);
    else if (!("requestId" in Object(value))) {
      prompts.push(toPrompt(value, `${JSON.stringify(path)}, line ${number}`));
    }
  }
  for (const [id, tier] of feedbackOf) {
    const decision = decided.get(id);
    if (decision !== undefined) {
      prompts.push({ messages: [], tier, scores: null, costs: null, decision });
    }
  }
  checkCosts(prompts, path);
  return prompts;
}

/** Costs of the file and list prices may have different units. */
function checkCosts(prompts: readonly EvalPrompt[], path: string): void {
  const { length } = prompts.filter(({ costs }) => costs !== null);
  if (length === 0 || length === prompts.length) return;
  const problem = `${length} of ${prompts.length} labelled prompts have costs`;
  throw new CliError(`${JSON.stringify(path)}: ${problem}. Give all of them costs, or none.`);
}

function toPrompt(value: unknown, where: string): EvalPrompt {
  const { data, error } = promptSchema.safeParse(value);
  if (data === undefined) {
    const [issue] = error.issues;
    const field = issue?.path.map(String).join(".") ?? "";
    throw new CliError(`${where}: ${field === "" ? "" : `${field} `}${issue?.message}.`);
  }
  return { ...data, decision: null };
}

/** Returns a prompt with the state that decides, and its key among the kept decisions, which hides its text. */
function toKeyedState(prompt: EvalPrompt, { services, options }: EvalRun) {
  const model = options.engines.evaluator?.["EVALUATOR_MODEL_ID"] ?? "";
  const last = prompt.messages.findLast(({ role }) => role === "user");
  const state = toTierState(last?.content ?? "");
  const asked = [`${services.engineAddress} ${model}`, tierQuestionHash, state.user_message];
  return { prompt, state, key: hash("sha256", JSON.stringify(asked), "base64url") };
}

/** Keeps each decision, and returns their number and cost. */
async function askFor(
  wanted: readonly ReturnType<typeof toKeyedState>[],
  kept: Awaited<ReturnType<typeof openKeptDecisions>>,
  { services: { evaluator, engineAddress }, context: { signal, stderr } }: EvalRun,
) {
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
    if (sums.paid % 1000 === 0) stderr.write(`${sums.paid} of ${wanted.length} decided\n`);
  }
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

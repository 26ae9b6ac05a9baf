import { isDeepStrictEqual } from "node:util";
import { CliError } from "evaluator-kit";
import { z } from "zod";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { feedbackSchema, readLines } from "../report/read-records.ts";
import { applyPolicy } from "../decision/decide.ts";
import type { ChoicePolicy } from "../decision/decision.ts";

const tier = z.enum(tierNames, `is none of ${tierNames.join(", ")}`);
/** A decision in the file of kept decisions; older files lack the model and the wire. */
export const knownSchema = z.object({
  choice: tier,
  probabilities: z.record(tier, z.number()),
  confidence: z.number().nullable(),
  modelId: z.string().nullable().default(null),
  wire: z.string().nullable().default(null),
});

/** A decision from the log or from an evaluation. */
export type KnownDecision = z.infer<typeof knownSchema>;

const message = z.object({ role: z.string(), content: z.string() });
const promptSchema = z
  .object({
    prompt: z.string().optional(),
    messages: z.array(message).min(1).optional(),
    tier: tier.optional(),
    scores: z.record(z.string(), z.number().min(0).max(1)).optional(),
    costs: z.record(z.string(), z.number().min(0)).optional(),
  })
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
  );

const loggedSchema = knownSchema
  .omit({ choice: true, modelId: true })
  .extend({
    requestId: z.string(),
    tierChosen: tier,
    evaluatorModelId: z.string().nullable().default(null),
  })
  .transform(({ requestId, tierChosen: choice, evaluatorModelId: modelId, ...known }) => ({
    requestId,
    decision: { ...known, choice, modelId },
  }));

/** A labelled prompt. */
export interface EvalPrompt {
  /** Up to a message of the user; empty for a line of the decision log. */
  readonly messages: readonly z.infer<typeof message>[];
  /** The right tier; null if it follows from the scores. */
  readonly tier: Tier | null;
  /** Quality of each model's answer, 0..1. */
  readonly scores: Readonly<Record<string, number>> | null;
  readonly costs: Readonly<Record<string, number>> | null;
  readonly decision: KnownDecision | null;
}

type DecidedPrompt = EvalPrompt & { readonly decision: KnownDecision };

/** Reads labelled prompts or a decision log. @throws CliError that names the line, not its text. */
export async function readPrompts(path: string): Promise<EvalPrompt[]> {
  const prompts: EvalPrompt[] = [];
  const decided = new Map<string, KnownDecision>();
  const feedbackOf = new Map<string, Tier>();
  let number = 0;
  for await (const line of readLines(path)) {
    number += 1;
    if (line.trim() === "") continue;
    const where = `${JSON.stringify(path)}, line ${number}`;
    const value = parsed(line, where);
    if (typeof value !== "object" || value === null || !("requestId" in value)) {
      prompts.push(toPrompt(value, where));
      continue;
    }
    const { data: feedback } = feedbackSchema.safeParse(value);
    const { data: record } = loggedSchema.safeParse(value);
    if (feedback !== undefined) feedbackOf.set(feedback.requestId, feedback.feedback);
    else if (record !== undefined) decided.set(record.requestId, record.decision);
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

function parsed(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CliError(`${where}: is no JSON.`);
  }
}

function toPrompt(value: unknown, where: string): EvalPrompt {
  const { data, error } = promptSchema.safeParse(value);
  if (data === undefined) {
    const [issue] = error.issues;
    const field = issue?.path.map(String).join(".") ?? "";
    throw new CliError(`${where}: ${field === "" ? "" : `${field} `}${issue?.message}.`);
  }
  const { prompt = "", messages = [{ role: "user", content: prompt }] } = data;
  const { tier = null, scores = null, costs = null } = data;
  return { messages, tier, scores, costs, decision: null };
}

/** Quality, 0..1, and cost. */
export type Point = Readonly<Record<"quality" | "cost", number>>;

/** A prompt with its decision, and the quality and cost of each tier. */
export interface JudgedPrompt {
  readonly decision: KnownDecision;
  /** The tier that the policy uses for the decision. */
  readonly used: Tier;
  /** The lowest tier with the best quality; the used tier if both have the same model. */
  readonly rightTier: Tier;
  readonly tiers: Readonly<Record<Tier, Point>>;
  /** Characters of the conversation; null if the text is unknown. */
  readonly length: number | null;
  /** Whether an earlier prompt has the same text. */
  readonly isRepeat: boolean;
}

interface JudgeOptions {
  readonly policy: ChoicePolicy;
  readonly tierModels: Readonly<Record<Tier, string>>;
  /** Returns the costs of the tiers for a prompt's length, if the file has no costs. */
  readonly costsOf: (characters: number) => readonly number[];
}

/** Judges every tier for each prompt. */
export function judgePrompts(
  prompts: readonly DecidedPrompt[],
  { policy, tierModels, costsOf }: JudgeOptions,
): JudgedPrompt[] {
  const ranked = rankModels(prompts);
  const seen = new Set<string>();
  return prompts.map(({ messages, tier, scores, costs, decision }) => {
    const text = JSON.stringify(messages);
    const isRepeat = messages.length > 0 && seen.has(text);
    seen.add(text);
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    const scored = ranked.filter((model) => Object.hasOwn(scores ?? {}, model));
    const models = modelsOfTiers(scored, tierModels);
    const lowest = tierNames.indexOf(tier ?? "frontier");
    const quality = models.map((model, at) =>
      scores === null ? Number(at >= lowest) : (scores[model] ?? 0),
    );
    const cost = costs === null ? costsOf(characters) : models.map((model) => costs[model] ?? 0);
    const points = tierNames.map((name, at) => [name, { quality: quality[at], cost: cost[at] }]);
    const tiers = Object.fromEntries(points) as Record<Tier, Point>;
    const { tierUsed: used } = applyPolicy(decision.choice, decision, policy);
    const right = tier ?? tierNames[quality.indexOf(Math.max(...quality))] ?? "frontier";
    const isSame = isDeepStrictEqual(tiers[used], tiers[right]);
    const length = messages.length === 0 ? null : characters;
    return { decision, used, rightTier: isSame ? used : right, tiers, length, isRepeat };
  });
}

/**
 * Orders all scored models by their mean cost; without costs, by their first use. There is one order
 * for the whole file: a prompt with a higher cost at the cheaper model must not swap the two.
 */
function rankModels(prompts: readonly DecidedPrompt[]): string[] {
  const scored = prompts.flatMap(({ scores, costs }) =>
    Object.keys(scores ?? {}).map((model) => ({ model, cost: costs?.[model] ?? 0 })),
  );
  const means = [...Map.groupBy(scored, ({ model }) => model)].map(([model, all]) => {
    return { model, mean: all.reduce((sum, { cost }) => sum + cost, 0) / all.length };
  });
  return means.toSorted((one, other) => one.mean - other.mean).map(({ model }) => model);
}

/** The tiers' own names or models if all are scored, else the scored models spread over the tiers. */
function modelsOfTiers(
  scored: readonly string[],
  tierModels: JudgeOptions["tierModels"],
): string[] {
  const own = tierNames.map((tier) =>
    [tier, tierModels[tier]].find((name) => scored.includes(name)),
  );
  if (own.every((name) => name !== undefined)) return own;
  const step = (scored.length - 1) / (tierNames.length - 1);
  return tierNames.map((_, tier) => scored[Math.round(tier * step)] ?? "");
}

/** Returns how hard a prompt is by its decision: the mean tier of the shares. */
export function hardness({ probabilities }: KnownDecision): number {
  const mean = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * mean) / 1e6; // equal means of printed values differ in their last bits
}

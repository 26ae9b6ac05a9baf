import { CliError } from "evaluator-kit";
import { z } from "zod";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { feedbackSchema, readLines } from "../report/read-records.ts";

/** A decision from the log or from an evaluation. */
export interface KnownDecision {
  readonly choice: Tier;
  readonly probabilities: Readonly<Record<Tier, number>>;
  readonly confidence: number | null;
  /** The model that answered, or null if unknown. */
  readonly modelId: string | null;
  /** Its transport and address, or null if unknown. */
  readonly wire: string | null;
}

/** A prompt with its right tier or its models' scores. */
export interface EvalPrompt {
  /** The conversation up to a user's message; empty for a line of the decision log. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** The right tier; null if it follows from the scores. */
  readonly tier: Tier | null;
  /** Quality of each model's answer, 0..1, or null. */
  readonly scores: Readonly<Record<string, number>> | null;
  /** Cost of each model's answer, or null. */
  readonly costs: Readonly<Record<string, number>> | null;
  /** The decision if it is known already. */
  readonly decision: KnownDecision | null;
}

const tier = z.enum(tierNames, `is none of ${tierNames.join(", ")}`);
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
    ({ scores, costs }) => costs === undefined || isSubset(scores, costs),
    "has costs, but not of all models that it scores",
  );

function isSubset(scores: object | undefined, costs: object): boolean {
  return scores !== undefined && Object.keys(scores).every((model) => Object.hasOwn(costs, model));
}

const decidedSchema = z.object({
  requestId: z.string(),
  tierChosen: tier,
  probabilities: z.record(tier, z.number()),
  confidence: z.number().nullable(),
  evaluatorModelId: z.string().nullable().default(null),
  wire: z.string().nullable().default(null),
});

/**
 * Reads labelled prompts, one line of JSON each; or the decision log, with feedback as labels.
 *
 * @throws CliError that names the wrong line, but not its text.
 */
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
    if (!isLogLine(value)) {
      prompts.push(toPrompt(value, where));
      continue;
    }
    const { data } = decidedSchema.safeParse(value);
    const { data: feedback } = feedbackSchema.safeParse(value);
    if (feedback !== undefined) feedbackOf.set(feedback.requestId, feedback.feedback);
    else if (data !== undefined) decided.set(data.requestId, toKnown(data));
  }
  const labelled = [...feedbackOf].flatMap(([id, tier]) => {
    const decision = decided.get(id);
    if (decision === undefined) return [];
    return [{ messages: [], tier, scores: null, costs: null, decision }];
  });
  const all = [...prompts, ...labelled];
  checkCosts(all, path);
  return all;
}

/** Costs of the file and list prices may have different units. */
function checkCosts(prompts: readonly EvalPrompt[], path: string): void {
  const { length } = prompts.filter(({ costs }) => costs !== null);
  if (length === 0 || length === prompts.length) return;
  const problem = `${length} of ${prompts.length} labelled prompts have costs`;
  throw new CliError(`${JSON.stringify(path)}: ${problem}. Give all of them costs, or none.`);
}

function isLogLine(value: unknown): boolean {
  return typeof value === "object" && value !== null && "requestId" in value;
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
    const what = `${field === "" ? "" : `${field} `}${issue?.message}`;
    throw new CliError(`${where}: ${what}.`);
  }
  const { prompt = "", messages = [{ role: "user", content: prompt }] } = data;
  const { tier = null, scores = null, costs = null } = data;
  return { messages, tier, scores, costs, decision: null };
}

function toKnown(decided: z.infer<typeof decidedSchema>): KnownDecision {
  const { tierChosen: choice, probabilities, confidence, wire } = decided;
  return { choice, probabilities, confidence, modelId: decided.evaluatorModelId, wire };
}

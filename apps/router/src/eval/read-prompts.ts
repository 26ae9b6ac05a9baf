import { CliError } from "evaluator-kit";
import { z } from "zod";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { feedbackSchema, readLines } from "../report/read-records.ts";

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

/** A prompt with its right tier or its models' scores. */
export type EvalPrompt = ReturnType<typeof toPrompt>;

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

const loggedSchema = z.object({
  requestId: z.string(),
  tierChosen: tier,
  evaluatorModelId: z.string().nullable().default(null),
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
    const decision = toKnown(value);
    const { data: feedback } = feedbackSchema.safeParse(value);
    if (feedback !== undefined) feedbackOf.set(feedback.requestId, feedback.feedback);
    else if (decision !== null) decided.set(decision.requestId, decision);
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

function isLogLine(value: unknown): value is object {
  return typeof value === "object" && value !== null && "requestId" in value;
}

function parsed(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CliError(`${where}: is no JSON.`);
  }
}

function toPrompt(value: unknown, where: string) {
  const { data, error } = promptSchema.safeParse(value);
  if (data === undefined) {
    const [issue] = error.issues;
    const field = issue?.path.map(String).join(".") ?? "";
    const what = `${field === "" ? "" : `${field} `}${issue?.message}`;
    throw new CliError(`${where}: ${what}.`);
  }
  const { prompt = "", messages = [{ role: "user", content: prompt }] } = data;
  const { tier = null, scores = null, costs = null } = data;
  return {
    /** Up to a message of the user; empty for a line of the decision log. */
    messages,
    /** The right tier; null if it follows from the scores. */
    tier,
    /** Quality of each model's answer, 0..1. */
    scores,
    costs,
    decision: null as KnownDecision | null,
  };
}

function toKnown(value: object) {
  const { data } = loggedSchema.safeParse(value);
  if (data === undefined) return null;
  const { requestId, tierChosen: choice, evaluatorModelId: modelId } = data;
  const known = knownSchema.safeParse({ ...value, choice, modelId }).data;
  return known === undefined ? null : { requestId, ...known };
}

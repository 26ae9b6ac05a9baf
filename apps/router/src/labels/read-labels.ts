import { CliError, isRecord, parseJson, printable, toPrintable, UsageError } from "evaluator-kit";
import { z } from "zod";
import { oneOf, orNull } from "../config/fields.ts";
import { describeIssue } from "../config/router-config.ts";
import { toTierState } from "../conversation/user-turns.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { PassedLines, readLines } from "../report/read-records.ts";

const tier = oneOf(tierNames);
const shares = z.record(tier, z.number());

/** A decision in the decision log, or in the file of kept decisions. */
const decisionSchema = z.object({
  tierChosen: tier,
  probabilities: shares,
  confidence: z.number().nullable(),
  promise: z.object({ act: z.string().nullable() }).nullish(),
  evaluatorModelId: orNull(z.string()),
  wire: orNull(z.string()),
});

const feedbackSchema = z.object({ requestId: z.string(), feedback: tier });
const loggedSchema = decisionSchema.extend({ requestId: z.string() });

const message = z.object({ role: z.string(), content: z.string() });
const promptObject = z
  .object(
    {
      id: orNull(z.union([z.string(), z.number()])),
      prompt: orNull(z.string()),
      messages: orNull(
        z
          .array(message)
          .refine((all) => all.some(({ role }) => role === "user"), "has no message of the user"),
      ),
      /** The evaluation model's, for `router:fit`. */
      probabilities: orNull(shares),
    },
    "is no JSON object",
  )
  .refine((line) => (line.prompt ?? line.messages) !== null, "has no prompt or messages");

const promptSchema = promptObject.transform(withMessages);

/** Scores have one of these scales, which begin at 0. */
const scales = [1, 5, 10, 100];
const notScore = "is not on a scale from 0 to 1, 5, 10 or 100";

const labelSchema = promptObject
  .safeExtend({
    /** The right tier, unless it follows from the scores. */
    tier: orNull(tier),
    category: orNull(z.string()),
    /** Quality of each model's answer. */
    scores: orNull(z.record(z.string(), z.number().min(0, notScore).max(100, notScore))),
    costs: orNull(z.record(z.string(), z.number().min(0))),
  })
  .refine(({ tier, scores }) => tier !== null || scores !== null, "has neither tier nor scores")
  .refine(
    ({ scores }) => scores === null || Object.keys(scores).length > 1,
    "has scores of one model; two at least are compared",
  )
  .refine(
    ({ scores, costs }) =>
      costs === null ||
      Object.keys(scores ?? { "": 0 }).every((name) => Object.hasOwn(costs, name)),
    "has costs, but not of all models that it scores",
  )
  .transform(withMessages);

function withMessages<TLine extends z.output<typeof promptObject>>(line: TLine) {
  const { prompt, messages, ...rest } = line;
  return { ...rest, messages: messages ?? [{ role: "user", content: prompt ?? "" }] };
}

/** A labelled prompt; a line of the decision log has a decision and no messages. */
export type Label = z.infer<typeof labelSchema> & {
  readonly decision: z.infer<typeof decisionSchema> | null;
};

/** Reads labels to measure with. @throws UsageError if there is none; and as {@link readLabels} does */
export async function readSomeLabels(...args: Parameters<typeof readLabels>): Promise<Label[]> {
  const labels = await readLabels(...args);
  if (labels.length > 0) return labels;
  const problem = printable`${args[0]} has no labelled prompt`;
  const advice = "Give prompts with tier or scores, or a decision log with POST /feedback.";
  throw new UsageError(`${problem}. ${advice}`);
}

/**
 * Reads labelled prompts or a decision log, in which a line that was cut is passed over with a warning.
 *
 * @throws CliError that names the line, not its text.
 */
export async function readLabels(path: string, warn: (text: string) => void): Promise<Label[]> {
  const labels: Label[] = [];
  const decisions = new Map<string, z.infer<typeof decisionSchema>>();
  const feedbackOf = new Map<string, Tier>();
  const passedLines = new PassedLines();
  let [isEmpty, isLog, firstProblem] = [true, false, null as CliError | null];
  for await (const place of readValues(path)) {
    isEmpty = false;
    const { value, number } = place;
    const { data: feedback } = feedbackSchema.safeParse(value);
    const { data: record } = loggedSchema.safeParse(value);
    if (feedback !== undefined) feedbackOf.set(feedback.requestId, feedback.feedback);
    else if (record !== undefined) decisions.set(record.requestId, record);
    if (!isRecord(value)) {
      passedLines.add(number);
      firstProblem ??= notObject(place);
    } else if ("requestId" in value) isLog = true;
    else labels.push({ ...parseLine(labelSchema, place), decision: null });
  }
  if (firstProblem !== null && !isLog) throw firstProblem;
  if (isEmpty) warn(printable`${path} is empty.\n`);
  if (firstProblem !== null) warn(`${passedLines.describe()}\n`);
  const unjudgedParts = { id: null, messages: [], scores: null, costs: null, category: null };
  for (const [id, tier] of feedbackOf) {
    const decision = decisions.get(id);
    if (decision === undefined) continue;
    labels.push({ ...unjudgedParts, tier, decision, probabilities: decision.probabilities });
  }
  const foreign = [...feedbackOf.keys()].filter((id) => !decisions.has(id));
  const names = foreign.slice(0, 3).map((id) => JSON.stringify(toPrintable(id.slice(0, 64))));
  const unusedText = `Not used: ${foreign.length} label${foreign.length === 1 ? "" : "s"} of messages that have no decision in the file (${names.join(", ")}).\n`;
  if (foreign.length > 0) warn(unusedText);
  checkCosts(labels, path);
  return scaleScores(labels, warn);
}

/** Reads prompts, labelled or not, with their places. @throws CliError that names the line, not its text. */
export async function* readPrompts(path: string) {
  for await (const place of readValues(path)) {
    yield { ...place, prompt: parseLine(promptSchema, place) };
  }
}

/** Reads lines of JSON with their places. @throws CliError if the file cannot be read. */
async function* readValues(path: string) {
  let number = 0;
  for await (const line of readLines(path)) {
    number += 1;
    const where = `${JSON.stringify(path)}, line ${number}`;
    if (line.trim() !== "") yield { value: parseJson(line), line, where, number };
  }
}

interface LinePlace {
  readonly value: unknown;
  readonly line: string;
  /** The file and the line, for messages. */
  readonly where: string;
}

/** @throws CliError with the place and the field. */
function parseLine<TSchema extends z.ZodType>(schema: TSchema, place: LinePlace) {
  if (!isRecord(place.value)) throw notObject(place);
  const { data, error } = schema.safeParse(place.value);
  if (error === undefined) return data;
  throw new CliError(`${place.where}: ${describeIssue(error, "")}.`);
}

const eachLine = "Write one JSON object in each line (NDJSON).";

/** Returns the error of a line that is no JSON object, with the form that it seems to have. */
function notObject({ line, where }: LinePlace): CliError {
  if (line.includes("\0")) return new CliError(`${where}: is UTF-16. Save the file as UTF-8.`);
  if (line.trimStart().startsWith("[")) return new CliError(`${where}: is a list. ${eachLine}`);
  const isTable = !line.includes("{") && line.includes(",");
  const problem = isTable ? "looks like a table (CSV)" : "is no JSON object";
  return new CliError(`${where}: ${problem}. ${eachLine}`);
}

/** Costs of the file and list prices may have different units. */
function checkCosts(labels: readonly Label[], path: string): void {
  const { length } = labels.filter(({ costs }) => costs !== null);
  if (length === 0 || length === labels.length) return;
  const problem = `${length} of ${labels.length} labelled prompts have costs`;
  throw new CliError(`${JSON.stringify(path)}: ${problem}. Give all of them costs, or none.`);
}

/** Divides the scores of a file by the end of their scale. */
function scaleScores(labels: readonly Label[], warn: (text: string) => void): Label[] {
  const most = labels.reduce((max, { scores }) => Math.max(max, ...Object.values(scores ?? {})), 0);
  const scale = scales.find((end) => most <= end) ?? 1;
  if (scale > 1) warn(`Scores are divided by ${scale}, the end of their scale.\n`);
  const toShare = ([model, score]: [string, number]) => [model, score / scale] as const;
  return labels.map((label) => ({
    ...label,
    scores: label.scores && Object.fromEntries(Object.entries(label.scores).map(toShare)),
  }));
}

/** Returns the text that decides; it is empty for a line of the decision log. */
export function toText(messages: Label["messages"]): string {
  const users = messages.filter(({ role }) => role === "user");
  return toTierState(users.map(({ content }) => content)).user_message;
}

import { CliError, isRecord, parseJson, printable, toPrintable, UsageError } from "evaluator-kit";
import { z } from "zod";
import { oneOf, orNull } from "../config/fields.ts";
import { describeIssue } from "../config/router-config.ts";
import { toTierState } from "../conversation/user-turns.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { PassedLines, readLines } from "../report/read-records.ts";

const tierSchema = oneOf(tierNames);
const sharesSchema = z.record(tierSchema, z.number());

/** A decision in the decision log, or in the file of kept decisions. */
const decisionSchema = z.object({
  tierChosen: tierSchema,
  probabilities: sharesSchema,
  confidence: z.number().nullable(),
  promise: z.object({ act: z.string().nullable() }).nullish(),
  evaluatorModelId: orNull(z.string()),
  wire: orNull(z.string()),
});

const feedbackSchema = z.object({ requestId: z.string(), feedback: tierSchema });
const loggedSchema = decisionSchema.extend({ requestId: z.string() });

const messageSchema = z.object({ role: z.string(), content: z.string() });
const promptObject = z
  .object(
    {
      id: orNull(z.union([z.string(), z.number()])),
      prompt: orNull(z.string()),
      messages: orNull(
        z
          .array(messageSchema)
          .refine((all) => all.some(({ role }) => role === "user"), "has no message of the user"),
      ),
      /** The evaluation model's, for `router:fit`. */
      probabilities: orNull(sharesSchema),
    },
    "is no JSON object",
  )
  .refine((line) => (line.prompt ?? line.messages) !== null, "has no prompt or messages");

const promptSchema = promptObject.transform(withMessages);

/** Scores have one of these scales, which begin at 0. */
const scoreScales = [1, 5, 10, 100];
const notScore = "is not on a scale from 0 to 1, 5, 10 or 100";

const labelSchema = promptObject
  .safeExtend({
    /** The right tier, unless it follows from the scores. */
    tier: orNull(tierSchema),
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
      Object.keys(scores ?? { "": 0 }).every((modelName) => Object.hasOwn(costs, modelName)),
    "has costs, but not of all models that it scores",
  )
  .transform(withMessages);

function withMessages<TLine extends z.output<typeof promptObject>>(promptLine: TLine) {
  const { prompt, messages, ...otherFields } = promptLine;
  return { ...otherFields, messages: messages ?? [{ role: "user", content: prompt ?? "" }] };
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
  const labelAdvice = "Give prompts with tier or scores, or a decision log with POST /feedback.";
  throw new UsageError(`${problem}. ${labelAdvice}`);
}

/**
 * Reads labelled prompts or a decision log, in which a line that was cut is passed over with a warning.
 *
 * @throws CliError that names the line, not its text.
 */
export async function readLabels(path: string, warn: (warning: string) => void): Promise<Label[]> {
  const labels: Label[] = [];
  const decisionsById = new Map<string, z.infer<typeof decisionSchema>>();
  const feedbackById = new Map<string, Tier>();
  const passedLines = new PassedLines();
  let [isEmpty, isLog, firstProblem] = [true, false, null as CliError | null];
  for await (const linePlace of readValues(path)) {
    isEmpty = false;
    const { value, number } = linePlace;
    const { data: feedback } = feedbackSchema.safeParse(value);
    const { data: record } = loggedSchema.safeParse(value);
    if (feedback !== undefined) feedbackById.set(feedback.requestId, feedback.feedback);
    else if (record !== undefined) decisionsById.set(record.requestId, record);
    if (!isRecord(value)) {
      passedLines.add(number);
      firstProblem ??= notObject(linePlace);
    } else if ("requestId" in value) isLog = true;
    else labels.push({ ...parseLine(labelSchema, linePlace), decision: null });
  }
  if (firstProblem !== null && !isLog) throw firstProblem;
  if (isEmpty) warn(printable`${path} is empty.\n`);
  if (firstProblem !== null) warn(`${passedLines.describe()}\n`);
  const unjudgedParts = { id: null, messages: [], scores: null, costs: null, category: null };
  for (const [requestId, tier] of feedbackById) {
    const decision = decisionsById.get(requestId);
    if (decision === undefined) continue;
    labels.push({ ...unjudgedParts, tier, decision, probabilities: decision.probabilities });
  }
  const foreignIds = [...feedbackById.keys()].filter((requestId) => !decisionsById.has(requestId));
  const names = foreignIds.slice(0, 3).map((id) => JSON.stringify(toPrintable(id.slice(0, 64))));
  const unusedText = `Not used: ${foreignIds.length} label${foreignIds.length === 1 ? "" : "s"} of messages that have no decision in the file (${names.join(", ")}).\n`;
  if (foreignIds.length > 0) warn(unusedText);
  checkCosts(labels, path);
  return scaleScores(labels, warn);
}

/** Reads prompts, labelled or not, with their places. @throws CliError that names the line, not its text. */
export async function* readPrompts(promptsPath: string) {
  for await (const linePlace of readValues(promptsPath)) {
    yield { ...linePlace, prompt: parseLine(promptSchema, linePlace) };
  }
}

/** Reads lines of JSON with their places. @throws CliError if the file cannot be read. */
async function* readValues(linesPath: string) {
  let number = 0;
  for await (const line of readLines(linesPath)) {
    number += 1;
    const where = `${JSON.stringify(linesPath)}, line ${number}`;
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
function parseLine<TSchema extends z.ZodType>(schema: TSchema, linePlace: LinePlace) {
  if (!isRecord(linePlace.value)) throw notObject(linePlace);
  const { data, error } = schema.safeParse(linePlace.value);
  if (error === undefined) return data;
  throw new CliError(`${linePlace.where}: ${describeIssue(error, "")}.`);
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
  const scoreScale = scoreScales.find((scaleEnd) => most <= scaleEnd) ?? 1;
  if (scoreScale > 1) warn(`Scores are divided by ${scoreScale}, the end of their scale.\n`);
  const toShare = ([model, score]: [string, number]) => [model, score / scoreScale] as const;
  return labels.map((label) => ({
    ...label,
    scores: label.scores && Object.fromEntries(Object.entries(label.scores).map(toShare)),
  }));
}

/** Returns the text that decides; it is empty for a line of the decision log. */
export function toText(messages: Label["messages"]): string {
  const userMessages = messages.filter(({ role }) => role === "user");
  return toTierState(userMessages.map(({ content }) => content)).user_message;
}

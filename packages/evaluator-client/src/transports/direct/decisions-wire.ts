import * as z from "zod/mini";
import { InvalidResponseError } from "../../errors.ts";
import type { KindName, Question, Questions } from "../../questions/kinds.ts";
import type { BooleanQuestion } from "../../questions/kinds/boolean.ts";
import type { ChoiceQuestion } from "../../questions/kinds/choice.ts";
import type { ScoreQuestion } from "../../questions/kinds/score.ts";
import { isRecord, quoteName } from "../../questions/json.ts";
import { wordingText } from "../../questions/wording.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import { isImage, type StatePart } from "../../questions/state.ts";
import { invalidBody, rejectAnswer } from "../../questions/rejections.ts";
import type { DirectForm, DirectReply } from "./direct-wire.ts";
import { forms } from "./forms.ts";
import type { ServiceRow } from "./services.ts";

/** OpenAI's form, which SGLang and vLLM have too. */
export const decisionsForm: DirectForm = { toBody: toDecisionsBody, read: readDecisions };

/** A question kind on this wire; each method gets only questions or answers of its kind. */
interface DecisionKind {
  readonly name: string;
  readonly answerSchema: z.ZodMiniType;
  /** Returns the fields of a question beside its type and name. */
  toQuestion(question: Question): object;
}

const common = { name: z.nullish(z.string()), confidence: z.optional(z.unknown()) };
const probability = z.number();

// The fields of an answer beside the common ones have the gateway's names; others are dropped.
const decisionKinds = {
  choice: {
    name: "choice",
    answerSchema: z.object({
      type: z.literal("choice"),
      ...common,
      choice: z.string(),
      probabilities: z.array(z.object({ value: z.string(), probability })),
    }),
    toQuestion: ({ instructions, criteria }: ChoiceQuestion) => ({
      instructions: wordingText(instructions),
      choices: Object.entries(criteria).map(([value, wording]) => {
        const description = wordingText(wording);
        return description === "" ? { value } : { value, description };
      }),
    }),
  },
  score: {
    name: "score",
    answerSchema: z.object({
      type: z.literal("score"),
      ...common,
      score: z.number(),
      probabilities: z.array(z.object({ value: z.number(), probability })),
    }),
    toQuestion: ({ instructions, criteria }: ScoreQuestion) => ({
      instructions: wordingText(instructions),
      levels: criteria.map((level) => ({ label: wordingText(level) })),
    }),
  },
  boolean: {
    name: "predicate",
    answerSchema: z.object({ type: z.literal("predicate"), ...common, probability }),
    toQuestion: (question: BooleanQuestion) => ({ instructions: withMeanings(question) }),
  },
  // The form has none; a request for one was rejected.
  box: null,
} satisfies Record<KindName, DecisionKind | null>;

const kindsByName = new Map<string, string>(
  Object.entries(decisionKinds).flatMap(([kind, of]) => (of === null ? [] : [[of.name, kind]])),
);

const answerSchemas = Object.values(decisionKinds).flatMap((kind) => kind?.answerSchema ?? []);
const refusalSchema = z.object({ type: z.literal("refusal"), ...common });
const decisionAnswerSchema = z.discriminatedUnion("type", [refusalSchema, ...answerSchemas]);
type DecisionAnswer = z.infer<typeof decisionAnswerSchema>;

/** The parts of a decisions response that are mapped; anything else passes. */
const decisionsResponseSchema = z.looseObject({
  model: z.nullish(z.string()),
  answers: z.array(decisionAnswerSchema),
  usage: z.nullish(
    z.looseObject({
      input_tokens: z.int().check(z.minimum(0)),
      output_tokens: z.int().check(z.minimum(0)),
    }),
  ),
});

function toDecisionsBody({ state, questions }: EvaluationRequest, model: string, row?: ServiceRow) {
  // Only OpenAI's own service is known to take JSON as such.
  const takesJson = row?.images === "parts";
  const parts =
    takesJson && typeof state === "object" && !Array.isArray(state) ? [{ json: state }] : state;
  const input = Array.isArray(parts) ? [toMessage(parts, takesJson)] : toText(parts);
  return `{"model":${JSON.stringify(model)},"input":${JSON.stringify(input)},"questions":${toListJson(questions)}}`;
}

/** Returns a state without images as text. */
export function toText(state: unknown): string {
  return typeof state === "string" ? state : JSON.stringify(state);
}

function toMessage(parts: readonly StatePart[], takesJson: boolean): object {
  const content = parts.map((part) => {
    if (typeof part === "string") return { type: "input_text", text: part };
    if (isImage(part)) return { type: "input_image", image_url: part.image };
    if (takesJson && isObjects(part.json)) return { type: "input_json", data: part.json };
    return { type: "input_text", text: toText(part.json) };
  });
  return { role: "user", content };
}

/** An object or a list of objects, which is the JSON that the form takes as such. */
function isObjects(json: unknown): boolean {
  return Array.isArray(json) ? json.length > 0 && json.every(isRecord) : isRecord(json);
}

const toListJson = perQuestions((questions) => {
  const names = listNames(questions);
  const wireQuestions = Object.values(questions).map((question, index) => {
    const kind = decisionKinds[question.type] as DecisionKind;
    return Object.assign({ type: kind.name, name: names[index] }, kind.toQuestion(question));
  });
  return JSON.stringify(wireQuestions);
});

/** Returns the names of questions: their ids if the form takes all of them, else their numbers. */
function listNames(questions: Questions): readonly string[] {
  const ids = Object.keys(questions);
  const arePlain = ids.every((id) => /^[\w-]{1,64}$/.test(id));
  return arePlain ? ids : ids.map((_, index) => `question_${index + 1}`);
}

/** The form has no field for what counts as yes and as no, so the question contains it. */
function withMeanings({ instructions, criteria = {} }: BooleanQuestion) {
  const { true: yes, false: no } = criteria;
  const ofYes = yes === undefined ? "" : ` It is so when: ${wordingText(yes)}`;
  const ofNo = no === undefined ? "" : ` It is not so when: ${wordingText(no)}`;
  return `${wordingText(instructions)}${ofYes}${ofNo}`;
}

/** Maps a response. Answers belong to questions by name and by order. */
function readDecisions(json: unknown, questions: Questions): DirectReply {
  const { data, error } = decisionsResponseSchema.safeParse(json);
  if (data === undefined) throw invalidField(error.issues[0]?.path[0]);
  const { answers } = data;
  const ids = Object.keys(questions);
  const names = listNames(questions);
  const wrong = names.findIndex((name, index) => answers[index]?.name !== name);
  if (wrong >= 0 || answers.length > names.length) throw misplaced(ids[wrong] ?? null);
  const byId = ids.map((id, index) => [id, answers[index] as DecisionAnswer] as const);
  return {
    model: data.model,
    usage: data.usage
      ? { inputTokens: data.usage.input_tokens, outputTokens: data.usage.output_tokens }
      : null,
    answers: Object.fromEntries(byId.map(([id, answer]) => [id, toGatewayAnswer(answer, id)])),
    providerMetadata: { decisions: Object.fromEntries(byId.map(withConfidence)) },
    // Each server defines its confidence in another way.
    definesConfidence: false,
  };
}

function misplaced(questionId: string | null): InvalidResponseError {
  const what =
    questionId === null
      ? "There are more answers than questions"
      : `The answer in the place of ${quoteName(questionId)} belongs to no question or to another one`;
  const message = `${what} (rule answer-ids); none is used, and asking again may not help.`;
  return new InvalidResponseError(message, { questionId, rule: "answer-ids" });
}

function withConfidence([id, answer]: readonly [string, DecisionAnswer]) {
  return [id, Object.hasOwn(answer, "confidence") ? { confidence: answer.confidence } : {}];
}

function toGatewayAnswer(answer: DecisionAnswer, questionId: string): object {
  const { name: _name, confidence: _confidence, ...values } = answer;
  const type = kindsByName.get(answer.type) ?? "refusal";
  if (!("probabilities" in values)) return { ...values, type };
  return { ...values, type, probabilities: toDistribution(values.probabilities, questionId) };
}

function toDistribution(
  listedItems: readonly { value: string | number; probability: number }[],
  questionId: string,
): object {
  const probabilities = new Map(listedItems.map((one) => [String(one.value), one.probability]));
  if (probabilities.size === listedItems.length) return Object.fromEntries(probabilities);
  const flaw = "has two probabilities for one option or level";
  const advice = "Asking again may not help.";
  return rejectAnswer(questionId, { rule: "probabilities-keys", flaw, advice });
}

function invalidField(field: PropertyKey | undefined): InvalidResponseError {
  // Below the first name the names are the server's own, so no message contains them.
  const knownField = ["model", "answers", "usage"].find((name) => name === field);
  const where = knownField === undefined ? "as a whole" : `at ${knownField}`;
  return invalidBody(forms.decisions.path, where);
}

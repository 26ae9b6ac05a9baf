import * as z from "zod/mini";
import { InvalidResponseError } from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { type Question, type Questions } from "../../questions/kinds.ts";
import { quoteName } from "../../questions/json.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import { type ImageSupport, isImage, type StatePart } from "../../questions/state.ts";
import type { TransportReply } from "../transport.ts";

/** The path of the decisions form under a server's base URL. */
export const decisionsPath = "/v1/decisions";

const probability = z.number();

/** One answer of the decisions form; its probabilities are a list, each with what it belongs to. */
const decisionAnswerSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("predicate"), name: z.nullish(z.string()), probability }),
  z.looseObject({
    type: z.literal("choice"),
    name: z.nullish(z.string()),
    choice: z.string(),
    probabilities: z.array(z.looseObject({ value: z.string(), probability })),
  }),
  z.looseObject({
    type: z.literal("score"),
    name: z.nullish(z.string()),
    score: z.number(),
    probabilities: z.array(z.looseObject({ value: z.number(), probability })),
  }),
  z.looseObject({ type: z.literal("refusal"), name: z.nullish(z.string()) }),
]);
/** See {@link decisionAnswerSchema}. */
type DecisionAnswer = z.infer<typeof decisionAnswerSchema>;

/** The parts of a decisions response that are mapped; anything else passes. */
const decisionsResponseSchema = z.looseObject({
  model: z.nullish(z.string()),
  answers: z.array(decisionAnswerSchema),
  usage: z.looseObject({
    input_tokens: z.int().check(z.minimum(0)),
    output_tokens: z.int().check(z.minimum(0)),
  }),
});

/** The images of the decisions form, in data: URLs or at an address (OpenAI's reference). */
export const decisionsImages: ImageSupport = {
  formats: ["png", "jpeg", "webp", "gif"],
  maxBytes: 16 * 1024 * 1024,
  maxImages: 128,
  takesAddresses: true,
};

/** Returns the request body of the decisions form as JSON: a list of questions, and the state as text or as a user's message. */
export function toDecisionsBody({ state, questions }: EvaluationRequest, model: string): string {
  const input = Array.isArray(state) ? [toMessage(state)] : toText(state);
  return `{"model":${JSON.stringify(model)},"input":${JSON.stringify(input)},"questions":${toListJson(questions)}}`;
}

function toText(state: unknown): string {
  return typeof state === "string" ? state : JSON.stringify(state);
}

function toMessage(parts: readonly StatePart[]): object {
  const content = parts.map((part) => {
    if (typeof part === "string") return { type: "input_text", text: part };
    if (isImage(part)) return { type: "input_image", image_url: part.image };
    return { type: "input_text", text: toText(part.json) };
  });
  return { role: "user", content };
}

const toListJson = perQuestions((questions) => {
  const names = namesOf(questions);
  const listed = Object.values(questions).map((question, index) => {
    return toDecisionQuestion(question, names[index] as string);
  });
  return JSON.stringify(listed);
});

/** The names that questions go by: their ids where the form takes them all, else their numbers. */
function namesOf(questions: Questions): readonly string[] {
  const ids = Object.keys(questions);
  const arePlain = ids.every((id) => /^[\w-]{1,64}$/.test(id));
  return arePlain ? ids : ids.map((_, index) => `question_${index + 1}`);
}

function toDecisionQuestion(question: Question, name: string): object {
  const { instructions } = question;
  if (question.type === "boolean") {
    return { type: "predicate", name, instructions: withMeanings(question) };
  }
  if (question.type === "score") {
    const levels = question.criteria.map((label) => ({ label }));
    return { type: "score", name, instructions, levels };
  }
  const choices = Object.entries(question.criteria).map(([value, description]) => {
    return description === "" ? { value } : { value, description };
  });
  return { type: "choice", name, instructions, choices };
}

/** The form has no place for what counts as yes and as no, so it is said in the question. */
function withMeanings({ instructions, criteria = {} }: Extract<Question, { type: "boolean" }>) {
  const yes = criteria.true === undefined ? "" : ` It is so when: ${criteria.true}`;
  const no = criteria.false === undefined ? "" : ` It is not so when: ${criteria.false}`;
  return `${instructions}${yes}${no}`;
}

/**
 * Moves a response of the decisions form into the gateway's. Answers belong to questions by name and by order.
 *
 * @throws InvalidResponseError when the two disagree, or the body has another shape.
 */
export function fromDecisionsResponse(
  response: JsonResponse,
  { questions }: Pick<EvaluationRequest, "questions">,
): Omit<TransportReply, "status" | "headers" | "raw"> {
  const { data, error } = decisionsResponseSchema.safeParse(response.json);
  if (data === undefined) throw invalidBody(error.issues[0]?.path[0]);
  const { answers, usage, model = null } = data;
  const names = namesOf(questions);
  checkNames(answers, { names, ids: Object.keys(questions) });
  const byId = Object.keys(questions).map((id, index): [string, DecisionAnswer] => {
    return [id, answers[index] as DecisionAnswer];
  });
  return {
    response: {
      answers: Object.fromEntries(byId.map(([id, answer]) => [id, toGatewayAnswer(answer, id)])),
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
      warnings: [],
      providerMetadata: { decisions: Object.fromEntries(byId.map(withConfidence)) },
    },
    modelId: model,
    requestId: headerOf(response, "x-request-id"),
    // Each server means something else by it.
    definesConfidence: false,
  };
}

function checkNames(
  answers: readonly DecisionAnswer[],
  { names, ids }: { names: readonly string[]; ids: readonly string[] },
): void {
  const wrong = names.findIndex((name, index) => answers[index]?.name !== name);
  if (wrong < 0 && answers.length === names.length) return;
  const questionId = ids[wrong] ?? null;
  const what =
    questionId === null
      ? "There are more answers than questions"
      : `The answer in the place of ${quoteName(questionId)} belongs to no question or to another one`;
  const message = `${what} (rule answer-ids); none is used, and asking again may not help.`;
  throw new InvalidResponseError(message, { questionId, rule: "answer-ids" });
}

function toGatewayAnswer(answer: DecisionAnswer, questionId: string): object {
  if (answer.type === "predicate") return { type: "boolean", probability: answer.probability };
  if (answer.type === "refusal") return { type: "refusal" };
  const entries = answer.probabilities.map(({ value, probability }) => [
    String(value),
    probability,
  ]);
  const probabilities: object = Object.fromEntries(entries);
  if (Object.keys(probabilities).length !== entries.length) {
    const message = `The answer ${quoteName(questionId)} has two probabilities for one option or level (rule probabilities-keys); it is not used.`;
    throw new InvalidResponseError(message, { questionId, rule: "probabilities-keys" });
  }
  if (answer.type === "score") return { type: "score", score: answer.score, probabilities };
  return { type: "choice", choice: answer.choice, probabilities };
}

function withConfidence([id, answer]: [string, DecisionAnswer]): [string, object] {
  return [id, Object.hasOwn(answer, "confidence") ? { confidence: answer["confidence"] } : {}];
}

function invalidBody(field: PropertyKey | undefined): InvalidResponseError {
  // Below the first name, the names are the server's own, and may repeat anything.
  const known = ["model", "answers", "usage"].find((name) => name === field);
  const where = known === undefined ? "as a whole" : `at ${known}`;
  const message = `The response body does not have the shape of /v1/decisions ${where}; check the base URL and the option "wire".`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

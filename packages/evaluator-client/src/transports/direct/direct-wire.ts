import * as z from "zod/mini";
import {
  InvalidResponseError,
  AuthenticationError,
  RateLimitError,
  StatusError,
  type StatusErrorDetails,
} from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { isRecord, recordOf, textAt } from "../../questions/json.ts";
import type { KindName, Question } from "../../questions/kinds.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  imageDataOf,
  type ImagePart,
  imagesIn,
  type ImageSupport,
  isImage,
  type StatePart,
} from "../../questions/state.ts";
import {
  commonStatusDetails,
  nextStep,
  passOnName,
  quoteServerText,
  type StatusFailure,
  statusMessage,
} from "../status-failure.ts";
import type { TransportReply } from "../transport.ts";

/** The path of an evaluation under the vendor's base URL (contract section 4.5). */
export const directPath = "/v1/systemone";

/** The vendor's limits for one key (contract section 8). */
export const directLimits = { requestsPerMinute: 1200, tokensPerSecond: 250_000 };

/** Returns the headers of a direct request; without a key, no `Authorization` (field facts). */
export function directHeaders(apiKey: string | null): Record<string, string> {
  const authorization = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  return { ...authorization, "Content-Type": "application/json" };
}

/** The parts of a direct response that are mapped; anything else passes (contract section 2.6). */
export const directResponseSchema = z.looseObject({
  model: z.optional(z.string()),
  answers: recordOf(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }),
});
/** See {@link directResponseSchema}. */
export type DirectResponse = z.infer<typeof directResponseSchema>;
/** One answer as the vendor gives it. */
type DirectAnswer = DirectResponse["answers"][string];

/** Returns what {@link directResponseSchema} says, at a tenth of its cost (benchmark: calls). */
export function isDirectResponse(json: unknown): json is DirectResponse {
  if (!isRecord(json)) return false;
  const { model = "", answers, usage } = json;
  return (
    typeof model === "string" &&
    isRecord(answers) &&
    Object.values(answers).every(
      (answer) => isRecord(answer) && typeof answer["type"] === "string",
    ) &&
    isRecord(usage) &&
    Number.isFinite(usage["input_tokens"]) &&
    Number.isFinite(usage["output_tokens"])
  );
}

/** The vendor's three error bodies: words, a named error, or a list of field errors (field facts). */
const directErrorBodySchema = z.looseObject({
  detail: z.union([
    z.string(),
    z.looseObject({ error_type: z.string(), message: z.nullish(z.string()) }),
    z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })),
  ]),
});

const toQuestionsJson = perQuestions((questions) =>
  JSON.stringify(mapRecord(questions, toDirectQuestion)),
);

/**
 * Returns the request body of the vendor's API as JSON: the model in it, and `boolean` named
 * `noul`.
 */
export function toDirectBody({ state, questions }: EvaluationRequest, model: string): string {
  if (Array.isArray(state)) return toDirectPartsBody(state, { questions }, model);
  return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** The images that the vendor reads, from its model 1.14 on (third parties' clients; unverified). */
export const directImages: ImageSupport = {
  formats: ["png", "jpeg"],
  maxBytes: 16 * 1024 * 1024,
  maxImages: 128,
  takesAddresses: false,
};

/** What switches images on, at the vendor an experiment. */
export const directImageHeaders = { "TypeSafe-Danger-Zone-Images": "true" };

/** The request body with images: each stands in the state by a name, and its bytes under that name in `assets`. */
function toDirectPartsBody(
  parts: readonly StatePart[],
  { questions }: Pick<EvaluationRequest, "questions">,
  model: string,
): string {
  const images = imagesIn(parts);
  const others = parts.filter((part) => !isImage(part));
  const names = unusedNames(images.length, JSON.stringify([others, questions]));
  const nameOf = new Map<ImagePart, string>();
  for (const [index, part] of images.entries()) nameOf.set(part, names[index] as string);
  const assets = [...nameOf].map(([part, name]) => {
    // Addresses were rejected with the request.
    const { format, base64 } = imageDataOf(part) as ImageData;
    return [
      name,
      { type: "image", format: format === "jpeg" ? "jpg" : format, data_base64: base64 },
    ];
  });
  const state = parts.map((part) => {
    if (typeof part === "string") return part;
    return isImage(part) ? nameOf.get(part) : part.json;
  });
  const head = { model, state, ...(images.length > 0 && { assets: Object.fromEntries(assets) }) };
  return `${JSON.stringify(head).slice(0, -1)},"questions":${toQuestionsJson(questions)}}`;
}

/** Names for images that stand nowhere in the text, which the vendor would take for the image too. */
function unusedNames(count: number, text: string): string[] {
  const used = new Set(Array.from(text.matchAll(/\[image-(\d+)\]/g), ([, number]) => number));
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    if (!used.has(String(number))) names.push(`[image-${number}]`);
  }
  return names;
}

/** Moves the vendor's response into the gateway's form (contract section 2.6). */
export function fromDirectResponse(
  response: JsonResponse,
  vendor: string,
): Pick<TransportReply, "response" | "modelId" | "requestId"> {
  const { json } = response;
  if (!isDirectResponse(json)) throw invalidBody(json);
  const { answers, usage, model = null } = json;
  const vendorMetadata = {
    confidence: pick(answers, "confidence"),
    legend: pick(answers, "legend"),
  };
  return {
    response: {
      answers: mapRecord(answers, toGatewayAnswer),
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
      warnings: [],
      providerMetadata: { [vendor]: vendorMetadata },
    },
    modelId: model,
    requestId: directRequestId(response),
  };
}

/** Returns the vendor's id of a request from the headers of its response, or null. */
function directRequestId(response: JsonResponse): string | null {
  return headerOf(response, "x-typesafe-request-id") ?? headerOf(response, "x-request-id");
}

/** A question kind on this wire: its name, and its answer in the gateway's form. */
interface DirectKind {
  readonly name: string;
  readonly toAnswer: (answer: DirectAnswer) => object;
}

const directKinds = {
  choice: { name: "choice", toAnswer: withoutMetadata },
  score: { name: "score", toAnswer: withoutMetadata },
  boolean: { name: "noul", toAnswer: ({ noul }) => ({ type: "boolean", probability: noul }) },
} satisfies Record<KindName, DirectKind>;

const answerMappers = new Map<string, DirectKind["toAnswer"]>(
  Object.values(directKinds).map(({ name, toAnswer }) => [name, toAnswer]),
);

function toDirectQuestion(question: Question): object {
  return { ...question, type: directKinds[question.type].name };
}

/** Maps an answer; a refusal and what no kind has pass, so that the check of answers rejects them. */
function toGatewayAnswer(answer: DirectAnswer): object {
  return (answerMappers.get(answer.type) ?? withoutMetadata)(answer);
}

function withoutMetadata(answer: DirectAnswer): object {
  const { confidence: _confidence, legend: _legend, ...rest } = answer;
  return rest;
}

/** One field of every answer that has it, by question id. */
function pick(answers: DirectResponse["answers"], field: "confidence" | "legend"): object {
  const picked: [string, unknown][] = [];
  for (const id of Object.keys(answers)) {
    const answer = answers[id] as DirectAnswer;
    if (Object.hasOwn(answer, field)) picked.push([id, answer[field]]);
  }
  return Object.fromEntries(picked);
}

function mapRecord<TValue>(
  record: Readonly<Record<string, TValue>>,
  map: (value: TValue) => object,
): object {
  // Object.fromEntries keeps an id such as __proto__ as data.
  return Object.fromEntries(Object.entries(record).map(([id, value]) => [id, map(value)]));
}

function invalidBody(json: unknown): InvalidResponseError {
  const { issues } = directResponseSchema.safeParse(json).error as z.core.$ZodError;
  // Below `answers` the names are the server's own, and may repeat anything.
  const [path] = issues.map(({ path }) => (path[0] === "answers" ? "answers" : path.join(".")));
  const where = path ? `at ${path}` : "as a whole";
  const message = `The response body does not have the vendor's shape ${where}; check the base URL.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

/** Turns an error status of the vendor's API into the error to throw (field facts). */
export function toDirectError(failure: StatusFailure): StatusError {
  const { status, json } = failure.response;
  const { type, said } = readDetail(json);
  const details: StatusErrorDetails = {
    ...commonStatusDetails(failure),
    type: passOnName(type, failure),
    requestId: directRequestId(failure.response),
    generationId: null,
    needsPaidCredits: status === 402,
  };
  const words = quoteServerText(said, failure);
  const advice = type === "max_tokens_exceeded" ? tooManyTokens : ownAdvice(status, said);
  const message = statusMessage("The vendor's API", details, { words, advice });
  return new (classFor(status))(message, details);
}

const tooManyTokens =
  "The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.";

/** What to do where servers that speak the wire differ from the vendor. */
function ownAdvice(status: number, said: string | null): string {
  if (status === 501) {
    return "This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.";
  }
  const isAboutOptions = /option|choice|criteria|label/i.test((said ?? "").slice(0, 2000));
  if ((status === 400 || status === 422) && isAboutOptions) {
    return "Where it is about how many: Ollama takes 2 to 26 options, vLLM 26 and some hosted servers 208, while the vendor takes 255. Ask with fewer, or set questionLimits.maxOptions so that more are refused before sending.";
  }
  return nextStep(status);
}

function classFor(status: number): typeof StatusError {
  if (status === 401 || status === 403) return AuthenticationError;
  return status === 429 || status === 529 ? RateLimitError : StatusError;
}

function readDetail(json: unknown): { type: string | null; said: string | null } {
  const detail = directErrorBodySchema.safeParse(json).data?.detail;
  // Other servers that speak the wire answer as their chat does.
  if (detail === undefined) {
    const said = textAt(json, "error", "message") ?? textAt(json, "error");
    return { type: textAt(json, "error", "type"), said };
  }
  if (typeof detail === "string") return { type: null, said: detail };
  if (!Array.isArray(detail)) {
    return { type: detail.error_type, said: detail.message ?? null };
  }
  // A field error also echoes the input, which must not be repeated.
  const said = detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  return { type: null, said };
}

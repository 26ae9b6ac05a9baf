import * as z from "zod/mini";
import { InvalidResponseError, type StatusError } from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { isRecord, textAt } from "../../questions/json.ts";
import type { KindName, Question } from "../../questions/kinds.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  imageDataOf,
  type ImagePart,
  imagesIn,
  isImage,
  type StatePart,
} from "../../questions/state.ts";
import type { PostedService } from "../post-transport.ts";
import { nextStep, type StatusFailure, toStatusError } from "../status-failure.ts";

/** One form of the direct wire. */
export interface DirectForm extends Pick<PostedService, "limits" | "images" | "imageHeaders"> {
  /** The path under the base URL. */
  readonly path: string;
  /** The base URL and model if none is given. */
  readonly baseUrl?: string;
  readonly model?: string;
  toBody(request: EvaluationRequest, model: string): string;
  toReply(
    response: JsonResponse,
    request: Pick<EvaluationRequest, "questions">,
    vendor: string,
  ): ReturnType<PostedService["toReply"]>;
}

/** The vendor's own form (contract sections 2.6 and 4.5). */
export const systemoneForm: DirectForm = {
  path: "/v1/systemone",
  baseUrl: "https://api.typesafe.ai",
  model: "jev-latest",
  // The limits of one key (contract section 8).
  limits: { requestsPerMinute: 1200, tokensPerSecond: 250_000 },
  // From its model 1.14 on, as an experiment that a header turns on (third parties' clients; unverified).
  images: {
    formats: ["png", "jpeg"],
    maxBytes: 16 * 1024 * 1024,
    maxImages: 128,
    takesAddresses: false,
  },
  imageHeaders: { "TypeSafe-Danger-Zone-Images": "true" },
  toBody: toDirectBody,
  toReply: (response, _, vendor) => fromDirectResponse(response, vendor),
};

/** The fields of a direct response that are mapped; other fields pass (contract section 2.6). */
interface DirectResponse {
  readonly model?: string;
  readonly answers: Readonly<Record<string, DirectAnswer>>;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}
interface DirectAnswer {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Returns the first path that is wrong in a direct response, empty for the whole, or null. */
function flawIn(json: unknown): string | null {
  if (!isRecord(json)) return "";
  const { model = "", answers, usage } = json;
  if (typeof model !== "string") return "model";
  // Below `answers` the names are the server's own, so no message contains them.
  if (!isRecord(answers) || !Object.values(answers).every(isDirectAnswer)) return "answers";
  if (!isRecord(usage)) return "usage";
  if (!Number.isFinite(usage["input_tokens"])) return "usage.input_tokens";
  return Number.isFinite(usage["output_tokens"]) ? null : "usage.output_tokens";
}

function isDirectAnswer(answer: unknown): boolean {
  return isRecord(answer) && typeof answer["type"] === "string";
}

/** The vendor's error bodies: text, a named error, or a list of field errors (field facts). */
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

function toDirectBody({ state, questions }: EvaluationRequest, model: string): string {
  if (Array.isArray(state)) return toDirectPartsBody(state, { questions }, model);
  return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** Returns a body with images: the state contains a name for each, and `assets` the bytes by name. */
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

/** Returns names for images that the text does not contain: the vendor would read them as images too. */
function unusedNames(count: number, text: string): string[] {
  const used = new Set(Array.from(text.matchAll(/\[image-(\d+)\]/g), ([, number]) => number));
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    if (!used.has(String(number))) names.push(`[image-${number}]`);
  }
  return names;
}

function fromDirectResponse(response: JsonResponse, vendor: string) {
  const flaw = flawIn(response.json);
  if (flaw !== null) throw invalidBody(flaw);
  const { answers, usage, model = null } = response.json as DirectResponse;
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

/** Returns one field of the answers that have it, by question id. */
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

function invalidBody(path: string): InvalidResponseError {
  const where = path === "" ? "as a whole" : `at ${path}`;
  const message = `The response body does not have the vendor's shape ${where}; check the base URL.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

/** Makes the error for an error status of the vendor's API (field facts). */
export function toDirectError(failure: StatusFailure): StatusError {
  const { status, json } = failure.response;
  const { type, text } = readDetail(json);
  return toStatusError(failure, {
    service: "The vendor's API",
    type,
    text,
    requestId: directRequestId(failure.response),
    advice: type === "max_tokens_exceeded" ? tooManyTokens : adviceFor(status, text ?? ""),
  });
}

const tooManyTokens =
  "The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.";

/** Returns advice for servers that differ from the vendor. */
function adviceFor(status: number, text: string): string {
  if (status === 501) {
    return "This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.";
  }
  const isAboutOptions = /option|choice|criteria|label/i.test(text.slice(0, 2000));
  if ((status === 400 || status === 422) && isAboutOptions) {
    return "If there are too many options: Ollama takes 2 to 26, vLLM 26 and some hosted servers 208, while the vendor takes 255. Ask with fewer, or set questionLimits.maxOptions so that more are refused before sending.";
  }
  return nextStep(status);
}

function readDetail(json: unknown): { type: string | null; text: string | null } {
  const detail = directErrorBodySchema.safeParse(json).data?.detail;
  // Other servers of this wire report errors as their chat does.
  if (detail === undefined) {
    const text = textAt(json, "error", "message") ?? textAt(json, "error");
    return { type: textAt(json, "error", "type"), text };
  }
  if (typeof detail === "string") return { type: null, text: detail };
  if (!Array.isArray(detail)) return { type: detail.error_type, text: detail.message ?? null };
  // A field error also contains the input, which no message may repeat.
  const text = detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  return { type: null, text };
}

import { InvalidResponseError } from "../../errors.ts";
import { isRecord } from "../../questions/json.ts";
import type { KindName, Questions } from "../../questions/kinds.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  imageDataOf,
  imagesAsBytes,
  imagesIn,
  isImage,
  type StatePart,
} from "../../questions/state.ts";
import type { PostedService } from "../post-transport.ts";

/** One form of the direct wire. */
export interface DirectForm extends Pick<PostedService, "limits" | "images" | "imageHeaders"> {
  /** The path under the base URL. */
  readonly path: string;
  /** The base URL and model if none is given. */
  readonly baseUrl?: string;
  readonly model?: string;
  toBody(request: EvaluationRequest, model: string): string;
  /** Maps a response's JSON, or throws an `InvalidResponseError`. */
  read(json: unknown, questions: Questions, vendor: string): DirectReply;
}

/** A response with its answers in the gateway's form. */
export interface DirectReply {
  readonly model?: string | null | undefined;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  readonly answers: object;
  readonly providerMetadata: object;
  /** @default true */
  readonly definesConfidence?: boolean;
}

/** The vendor's own form (contract sections 2.6 and 4.5). */
export const systemoneForm: DirectForm = {
  path: "/v1/systemone",
  baseUrl: "https://api.typesafe.ai",
  model: "jev-latest",
  // The limits of one key (contract section 8).
  limits: { requestsPerMinute: 1200, tokensPerSecond: 250_000 },
  // From its model 1.14 on, as an experiment that a header turns on (third parties' clients; unverified).
  images: { ...imagesAsBytes, formats: ["png", "jpeg"] },
  imageHeaders: { "TypeSafe-Danger-Zone-Images": "true" },
  toBody: toDirectBody,
  read: readDirectResponse,
};

/** An answer of the vendor; fields that are not mapped pass (contract section 2.6). */
interface DirectAnswer {
  readonly type: string;
  readonly [field: string]: unknown;
}
type DirectAnswers = Readonly<Record<string, DirectAnswer>>;

/** Returns where a direct response is wrong first, or null. */
function flawIn(json: unknown): string | null {
  if (!isRecord(json)) return "as a whole";
  const { model = "", answers, usage } = json;
  if (typeof model !== "string") return "at model";
  // Below `answers` the names are the server's own, so no message contains them.
  if (!isRecord(answers) || !Object.values(answers).every(isDirectAnswer)) return "at answers";
  if (!isRecord(usage)) return "at usage";
  if (!Number.isFinite(usage["input_tokens"])) return "at usage.input_tokens";
  return Number.isFinite(usage["output_tokens"]) ? null : "at usage.output_tokens";
}

function isDirectAnswer(answer: unknown): boolean {
  return isRecord(answer) && typeof answer["type"] === "string";
}

const toQuestionsJson = perQuestions((questions) =>
  JSON.stringify(
    mapRecord(questions, (question) => ({ ...question, type: directKinds[question.type].name })),
  ),
);

function toDirectBody({ state, questions }: EvaluationRequest, model: string): string {
  if (Array.isArray(state)) return toDirectPartsBody(state, questions, model);
  return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** Returns a body with images: the state contains a name for each, and `assets` the bytes by name. */
function toDirectPartsBody(parts: readonly StatePart[], questions: Questions, model: string) {
  const nameOf = new Map(imagesIn(parts).map((part, index) => [part, `[image-${index + 1}]`]));
  const assets = [...nameOf].map(([part, name]) => {
    // Addresses were rejected with the request.
    const { format, base64 } = imageDataOf(part) as ImageData;
    const asset = {
      type: "image",
      format: format === "jpeg" ? "jpg" : format,
      data_base64: base64,
    };
    return [name, asset];
  });
  const state = parts.map((part) => {
    if (typeof part === "string") return part;
    return isImage(part) ? nameOf.get(part) : part.json;
  });
  const head = { model, state, ...(nameOf.size > 0 && { assets: Object.fromEntries(assets) }) };
  return `${JSON.stringify(head).slice(0, -1)},"questions":${toQuestionsJson(questions)}}`;
}

function readDirectResponse(json: unknown, _: Questions, vendor: string): DirectReply {
  const flaw = flawIn(json);
  if (flaw !== null) {
    const message = `The response body does not have the vendor's shape ${flaw}; check the base URL.`;
    throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
  }
  const { model, usage, answers } = json as DirectReply & { readonly answers: DirectAnswers };
  const own = { confidence: pick(answers, "confidence"), legend: pick(answers, "legend") };
  return {
    model,
    usage,
    // A refusal and what no kind has pass, so that the check of answers rejects them.
    answers: mapRecord(answers, (one) => (answerMappers.get(one.type) ?? withoutMetadata)(one)),
    providerMetadata: { [vendor]: own },
  };
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

function withoutMetadata(answer: DirectAnswer): object {
  const { confidence: _confidence, legend: _legend, ...rest } = answer;
  return rest;
}

function pick(answers: DirectAnswers, field: "confidence" | "legend"): object {
  // Entries, a filter and a map allocate 1.9 kB more for each call (benchmark: calls).
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

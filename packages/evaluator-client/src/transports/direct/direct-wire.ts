import { isRecord, mapRecord } from "../../questions/json.ts";
import type { KindName, Questions } from "../../questions/kinds.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  toImageData,
  imagesIn,
  isImage,
  type StatePart,
} from "../../questions/state.ts";
import { invalidBody } from "../../questions/rejections.ts";
import { forms } from "./forms.ts";
import type { ServiceRow } from "./services.ts";

/** The code of one form of the direct wire. */
export interface DirectForm {
  toBody(request: EvaluationRequest, model: string, row?: ServiceRow): string;
  /** Maps a response's JSON, or throws an `InvalidResponseError`. */
  read(json: unknown, questions: Questions, server: DirectServer): DirectReply;
}

/** Who answers: the key in `providerMetadata`, and its row if it is a known service. */
export interface DirectServer {
  readonly vendor: string;
  readonly row?: ServiceRow | undefined;
  /** Whether its `confidence` is the contract's. @default true */
  readonly definesConfidence?: boolean;
}

interface DirectUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
}

/** A response with its answers in the gateway's form. */
export interface DirectReply {
  readonly model?: string | null | undefined;
  /** Null if the service does not report it. */
  readonly usage: DirectUsage | null;
  readonly answers: object;
  readonly providerMetadata: object;
  /** @default true */
  readonly definesConfidence?: boolean;
}

/** The vendor's own form (contract sections 2.6 and 4.5). */
export const systemoneForm: DirectForm = { toBody: toDirectBody, read: readDirectResponse };

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
  if (!areAnswers(answers)) return "at answers";
  if (usage === undefined || usage === null) return null;
  if (!isRecord(usage)) return "at usage";
  if (!Number.isFinite(usage["input_tokens"])) return "at usage.input_tokens";
  return Number.isFinite(usage["output_tokens"]) ? null : "at usage.output_tokens";
}

/** Returns whether a value has answers by id, each with its kind. */
export function areAnswers(answers: unknown): answers is DirectAnswers {
  if (!isRecord(answers)) return false;
  return Object.values(answers).every((one) => isRecord(one) && typeof one["type"] === "string");
}

const toQuestionsJson = perQuestions((questions) => JSON.stringify(toWireQuestions(questions)));

const toRenamedJson = perQuestions((questions) => {
  const entries = Object.values(toWireQuestions(questions)).map((question, index) => {
    return [listNames(questions)[index], question];
  });
  return JSON.stringify(Object.fromEntries(entries));
});

function toWireQuestions(questions: Questions): object {
  return mapRecord(questions, (question) => ({
    ...question,
    type: directKinds[question.type].name,
  }));
}

/** Returns the names of questions: their ids if the service takes all of them, else their numbers. */
function listNames(questions: Questions): readonly string[] {
  const ids = Object.keys(questions);
  const arePlain = ids.every((id) => /^[\w.-]{1,100}$/.test(id));
  return arePlain ? ids : ids.map((_, index) => `question_${index + 1}`);
}

function toDirectBody({ state, questions }: EvaluationRequest, model: string, row?: ServiceRow) {
  const questionsJson =
    row?.renamesIds === true ? toRenamedJson(questions) : toQuestionsJson(questions);
  if (!Array.isArray(state))
    return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${questionsJson}}`;
  const { images = "assets" } = row ?? {};
  const head = { model, ...toParts[images](state) };
  return `${JSON.stringify(head).slice(0, -1)},"questions":${questionsJson}}`;
}

/** Returns a state with images in each form. */
const toParts: Readonly<
  Record<NonNullable<ServiceRow["images"]>, (parts: readonly StatePart[]) => object>
> = {
  // The state contains a name for each image, and `assets` the bytes by name.
  assets(parts) {
    const assets = imagesIn(parts).map((part, index) => {
      // Addresses were rejected with the request.
      const { format, base64 } = toImageData(part) as ImageData;
      const fields = { format: format === "jpeg" ? "jpg" : format, data_base64: base64 };
      return [`[image-${index + 1}]`, { type: "image", ...fields }] as const;
    });
    const state = namedImages(parts);
    return { state, ...(assets.length > 0 && { assets: Object.fromEntries(assets) }) };
  },
  images(parts) {
    const images = imagesIn(parts).map(({ image }) => image);
    return { state: namedImages(parts), ...(images.length > 0 && { images }) };
  },
  image_url: (parts) => ({ state: parts.map(toTypedPart) }),
  parts: (parts) => ({ state: parts.map(toTypedPart) }),
};

function namedImages(parts: readonly StatePart[]): readonly unknown[] {
  let count = 0;
  return parts.map((part) => {
    if (typeof part === "string") return part;
    return isImage(part) ? `[image-${(count += 1)}]` : part.json;
  });
}

function toTypedPart(part: StatePart): unknown {
  if (typeof part === "string") return part;
  return isImage(part) ? { type: "image_url", image_url: { url: part.image } } : part.json;
}

function readDirectResponse(json: unknown, questions: Questions, server: DirectServer) {
  const flaw = flawIn(json);
  if (flaw !== null) throw invalidBody(forms.systemone.path, flaw);
  const { model, usage } = json as WireReply;
  const reply: DirectReply = {
    model: model ?? null,
    usage: usage ? { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens } : null,
    ...readAnswers(answersIn(json as WireReply, questions, server), server),
  };
  return reply;
}

interface WireReply {
  readonly model?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly answers: DirectAnswers;
}

/** Returns the answers by id, whatever the service was asked to call them. */
function answersIn({ answers }: WireReply, questions: Questions, { row }: DirectServer) {
  if (row?.renamesIds !== true) return answers;
  const idOf = new Map(
    listNames(questions).map((name, index) => [name, Object.keys(questions)[index]]),
  );
  const entries = Object.entries(answers).map(([name, answer]) => [idOf.get(name) ?? name, answer]);
  return Object.fromEntries(entries) as DirectAnswers;
}

/** Maps answers by id, also of other forms with the same answers, and what is in them beside. */
export function readAnswers(answers: DirectAnswers, server: DirectServer) {
  const { vendor, row } = server;
  const own = { confidence: pick(answers, "confidence"), legend: pick(answers, "legend") };
  // The check of answers rejects a kind that is unknown; a service with many models may add one.
  const unknown = row === undefined ? withoutMetadata : toRefusal;
  return {
    answers: mapRecord(answers, (one) => (answerMappers.get(one.type) ?? unknown)(one, server)),
    providerMetadata: { [vendor]: own },
  };
}

function toRefusal(): object {
  return { type: "refusal" };
}

/** A question kind on this wire: its name, and its answer in the gateway's form. */
interface DirectKind {
  readonly name: string;
  readonly toAnswer: (answer: DirectAnswer, server: DirectServer) => object;
}

const directKinds = {
  choice: { name: "choice", toAnswer: withoutMetadata },
  score: { name: "score", toAnswer: withoutMetadata },
  box: {
    name: "box",
    toAnswer: ({ confidence = null, ...rest }, { definesConfidence = true }) => ({
      ...rest,
      confidence: definesConfidence ? confidence : null,
    }),
  },
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
  const pickedEntries: [string, unknown][] = [];
  for (const id of Object.keys(answers)) {
    const answer = answers[id] as DirectAnswer;
    if (Object.hasOwn(answer, field)) pickedEntries.push([id, answer[field]]);
  }
  return Object.fromEntries(pickedEntries);
}

import { isRecord } from "evaluator-kit";
import type {
  Answer,
  AnswerRoute,
  Evaluation,
  EvaluationRequest,
  RefusalError,
} from "evaluator-client";
import { HttpError } from "../http-error.ts";

/** The answers to a client's questions, with the metadata that a form may print. */
export interface Answered extends Pick<
  Evaluation,
  "costUsd" | "providerMetadata" | "raw" | "rounding" | "usage" | "warnings"
> {
  /** Without those of refused questions. */
  readonly answers: Readonly<Record<string, Answer>>;
  readonly confidence: Readonly<Record<string, number | null>>;
  /** The name of the model that answered. */
  readonly model: string;
  /** The service's own answers if a calibration corrected them; else null. */
  readonly printed: Readonly<Record<string, Answer>> | null;
  /** Who answered each question, if a second service may be asked; else null. */
  readonly route: Readonly<Record<string, RoutedAnswer>> | null;
}

/** Who answered a question; `step` 2 is the service that was asked again. */
interface RoutedAnswer extends Pick<AnswerRoute, "step" | "isSure"> {
  readonly service: string;
  readonly model: string;
  /** The name of the error of the service that was to be asked again, or null. */
  readonly failure: string | null;
}

/** A client's questions, and the writer of their answers. */
export interface AskedEvaluation {
  /** The model that the client names, or null. */
  readonly model: string | null;
  readonly request: EvaluationRequest;
  /** Whether the form can refuse single questions. */
  readonly takesRefusals: boolean;
  /** Returns the body of the answer. */
  readonly write: (answeredEvaluation: Answered) => object;
}

/** One of the forms in which clients ask typed questions. */
export interface EvaluationForm {
  /** The endpoint in the log and the metrics. */
  readonly endpoint: string;
  readonly path: string;
  /** The header in which the form's own clients look for the id of a request, beside `x-request-id`. */
  readonly requestIdHeader?: string;
  /** The status of an error in a field; null for that of the error. */
  readonly fieldStatus: 422 | null;
  /** Reads a body. @throws HttpError (400) with the path of a wrong field, never with its value. */
  readonly read: (body: unknown, header: (name: string) => string | undefined) => AskedEvaluation;
  /** Returns an error in this form; null for OpenAI's form. */
  readonly error:
    | ((message: string, status: number, details?: HttpError["details"]) => object)
    | null;
}

/** The place of a field in a body. */
export type Path = readonly (string | number)[];

/** Returns the error of a wrong field; the problem continues after its path. */
export function wrongField(path: Path, problem: string): HttpError {
  const param = path.map((pathKey) => String(pathKey).slice(0, 100)).join(".") || "the body";
  return new HttpError(400, `${param} ${problem}.`, { param, path });
}

/** Returns an object. @throws HttpError (400) for another value */
export function readObject(jsonValue: unknown, fieldPath: Path): Readonly<Record<string, unknown>> {
  if (isRecord(jsonValue)) return jsonValue;
  throw wrongField(fieldPath, jsonValue === undefined ? "is missing" : "is not an object");
}

/** Returns a list. @throws HttpError (400) for another value */
export function readList(jsonValue: unknown, fieldPath: Path): readonly unknown[] {
  if (Array.isArray(jsonValue)) return jsonValue;
  throw wrongField(fieldPath, jsonValue === undefined ? "is missing" : "is not a list");
}

/** Returns the error of a request without a question. */
export function noQuestion(): HttpError {
  return wrongField(["questions"], "is empty; ask at least one question");
}

/** Returns a name, or null if there is none. @throws HttpError (400) for another value */
export function readName(jsonValue: unknown, fieldPath: Path): string | null {
  if (jsonValue === undefined || jsonValue === null) return null;
  if (typeof jsonValue === "string") return jsonValue;
  throw wrongField(fieldPath, "is not a text");
}

/** Returns a text, or JSON as its text. @throws HttpError (400) for null, a number or a flag */
export function readText(jsonValue: unknown, fieldPath: Path): string {
  if (typeof jsonValue === "string") return jsonValue;
  if (typeof jsonValue === "object" && jsonValue !== null) return JSON.stringify(jsonValue);
  throw wrongField(fieldPath, "is neither a text nor an object nor a list");
}

/** Returns the service's own confidence in an answer; undefined if it reports none. */
export function confidenceIn(
  id: string,
  { answers, confidence, printed: printedAnswers, providerMetadata }: Answered,
): number | undefined {
  // The service computed it from its own answer.
  if (printedAnswers !== null && printedAnswers[id] !== answers[id]) return undefined;
  const ownConfidence = Object.hasOwn(confidence, id) ? confidence[id] : null;
  if (typeof ownConfidence === "number") return ownConfidence;
  for (const [vendorName, metadata] of Object.entries(providerMetadata)) {
    if (vendorName === "gateway" || !isRecord(metadata)) continue;
    const confidenceById = isRecord(metadata["confidence"]) ? metadata["confidence"] : {};
    const ofAnswer = Object.hasOwn(metadata, id) ? Object(metadata[id])["confidence"] : null;
    const foundValue: unknown = Object.hasOwn(confidenceById, id) ? confidenceById[id] : ofAnswer;
    if (typeof foundValue === "number") return foundValue;
  }
  return undefined;
}

/** Returns the answers beside refused ones, which were paid for. */
export function toAnsweredEvaluation(
  { answers, usage, costUsd }: RefusalError,
  model: string,
): Answered {
  return {
    answers: answers as Answered["answers"],
    usage,
    costUsd,
    model,
    confidence: {},
    printed: null,
    route: null,
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    warnings: [],
    providerMetadata: {},
    raw: null,
  };
}

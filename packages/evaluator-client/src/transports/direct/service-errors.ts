import { AuthenticationError, type StatusError } from "../../errors.ts";
import { findHeader, type JsonResponse, parseJson } from "../../http/http-response.ts";
import { isRecord, listAt, textAt, valueAt } from "../../questions/json.ts";
import {
  isAboutLength,
  nextStep,
  type StatusFailure,
  tooLong,
  toStatusError,
} from "../status-failure.ts";
import type { ServiceRow } from "./services.ts";

/** The parts of a service's error body that are the same for all. */
interface ErrorBody {
  readonly type: string | null;
  readonly text: string | null;
  /** Names and numbers of the error, which decide; its words do not. */
  readonly codes: readonly string[];
  /** The wait that the body asks for, in milliseconds, or null. */
  readonly retryAfterMs: number | null;
}

/** Makes the error for an error status of a service, or of a server without a row. */
export function toDirectError(failure: StatusFailure, row?: ServiceRow): StatusError {
  const { response } = failure;
  const { status } = response;
  const body = readErrorBody(failure);
  const isExhausted = body.codes.some((code) => exhaustedCodes.has(code));
  const isKeyWrong = body.codes.some((code) => keyCodes.has(code));
  return toStatusError(failure, {
    service: row?.title ?? "The vendor's API",
    ...body,
    requestId: findRequestId(response, row),
    advice: isExhausted ? exhaustedAdvice : adviceFor(status, body, row),
    ...(isExhausted && { isFinal: true, needsPaidCredits: true }),
    ...(isKeyWrong && { errorClass: AuthenticationError }),
  });
}

/** Returns the service's id of a request, else that of Cloudflare, which is in front of many; or null. */
export function findRequestId(response: JsonResponse, row?: ServiceRow): string | null {
  const own = findHeader(response, "x-typesafe-request-id", "x-request-id");
  const inBody = row && textAt(response.json, "id");
  return own ?? inBody ?? findHeader(response, "cf-ai-req-id", "cf-ray");
}

/** Returns the error status of a success that contains a failure, or null. */
export function failedStatus(json: unknown): number | null {
  if (valueAt(json, "success") === false) {
    return cloudflareStatuses[toName(valueAt(listAt(json, "errors")[0], "code")) ?? ""] ?? 400;
  }
  const code = valueAt(json, "error", "code");
  const isFailed = isRecord(valueAt(json, "error")) && valueAt(json, "answers") === undefined;
  if (!isFailed) return null;
  return typeof code === "number" && code >= 400 && code <= 599 ? code : 502;
}

// From its list of errors and third parties' clients; 4006 and 3036 are the day's allowance, 3040 is a full house.
const cloudflareStatuses: Readonly<Record<string, number>> = {
  3006: 413,
  3007: 408,
  3036: 429,
  3040: 429,
  4006: 429,
  5007: 404,
  5012: 500,
  5021: 413,
  10000: 401,
};

/** Codes of a used-up quota, which no waiting ends (OpenAI, Cloudflare; Google without a time to wait). */
const exhaustedCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "4006",
  "3036",
  "QuotaFailure",
]);
const exhaustedAdvice =
  "The quota of the account is used up, so that waiting does not help; add credit or raise the limit there.";

/** Google answers 400 to a wrong key. */
const keyCodes: ReadonlySet<string> = new Set(["API_KEY_INVALID"]);

const tooManyTokens =
  "The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.";

function adviceFor(status: number, { type, text }: ErrorBody, row?: ServiceRow): string {
  if (type === "max_tokens_exceeded") return tooManyTokens;
  if ((status === 400 || status === 413 || status === 422) && isAboutLength(text)) return tooLong;
  const words = (text ?? "").slice(0, 2000).toLowerCase();
  if (status === 404 && words.includes("no endpoints") && words.includes("data policy")) {
    return "The privacy settings of the account allow no provider of this model; change them at OpenRouter, or choose another model.";
  }
  if (row !== undefined) return nextStep(status);
  if (status === 501) {
    return "This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.";
  }
  if ((status === 400 || status === 422) && /option|choice|criteria|label/.test(words)) {
    return "If there are too many options: Ollama takes 2 to 26, vLLM 26, some hosted servers 208 and the vendor 255. Ask with fewer, or set questionLimits.maxOptions to refuse more before sending.";
  }
  return nextStep(status);
}

/** Reads the error bodies of all services; they differ by their fields. */
function readErrorBody({ response, clock }: StatusFailure): ErrorBody {
  const { json, status } = response;
  const detail = valueAt(json, "detail");
  if (detail !== undefined) return readDetail(detail);
  const listedError = listAt(json, "errors")[0];
  if (listedError !== undefined) return readListed(listedError);
  // Other servers of this wire report errors as their chat does.
  const error = valueAt(json, "error");
  const code = toName(valueAt(error, "code"));
  const kind = textAt(error, "type") ?? textAt(error, "status");
  const details = listAt(error, "details");
  const waitMs = readWaitMs(details, valueAt(error, "metadata"), clock.epochNow());
  return {
    type: kind ?? (code === String(status) ? null : code),
    text: textAt(error, "message") ?? textAt(json, "error") ?? textAt(json, "message"),
    codes: [kind, code, ...(waitMs === null ? details.flatMap(listCodes) : [])].filter(isText),
    retryAfterMs: waitMs,
  };
}

/** FastAPI's bodies, which are the vendor's too: text, a named error, or a list of field errors (field facts). */
function readDetail(detail: unknown): ErrorBody {
  const none = { type: null, codes: [], retryAfterMs: null };
  if (typeof detail === "string") return { ...none, text: detail };
  const type = textAt(detail, "error_type");
  if (type !== null) return { ...none, type, codes: [type], text: textAt(detail, "message") };
  // A field error also contains the input, which no message may repeat.
  const lines = (Array.isArray(detail) ? detail : []).map((field: unknown) => {
    const message = textAt(field, "msg");
    const path = listAt(field, "loc").join(".");
    return message === null || path === "" ? [] : [`${path}: ${message}`];
  });
  return { ...none, text: lines.flat().join("; ") || null };
}

/** Cloudflare's errors; the model's own envelope may be the text of an error. */
function readListed(listedError: unknown): ErrorBody {
  const text = textAt(listedError, "message") ?? textAt(listedError, "error");
  const inner = text?.startsWith("{") === true ? parseJson(text) : undefined;
  const nestedError =
    listAt(inner, "errors")[0] ?? valueAt(inner, "error") ?? listAt(listedError, "errors")[0];
  if (nestedError !== undefined) return readListed(nestedError);
  const code = toName(valueAt(listedError, "code"));
  return { type: code, text, codes: [code].filter(isText), retryAfterMs: null };
}

function toName(code: unknown): string | null {
  return typeof code === "number" || typeof code === "string" ? String(code) : null;
}

function isText(value: string | null): value is string {
  return value !== null;
}

/** Google's details: a reason such as API_KEY_INVALID, or the kind of detail. */
function listCodes(detail: unknown): readonly string[] {
  const kind = textAt(detail, "@type")?.split(".").at(-1) ?? null;
  return [textAt(detail, "reason"), kind].filter(isText);
}

/** Reads Google's RetryInfo, else OpenRouter's metadata; null for none. */
function readWaitMs(details: readonly unknown[], metadata: unknown, epochNowMs: number) {
  const delay = details.map((one) => textAt(one, "retryDelay")).find(isText) ?? "";
  if (/^\d{1,9}(?:\.\d{1,9})?s$/.test(delay)) return Number(delay.slice(0, -1)) * 1000;
  const seconds = valueAt(metadata, "retry_after_seconds");
  if (typeof seconds === "number" && seconds >= 0) return seconds * 1000;
  const reset = Number(textAt(metadata, "headers", "X-RateLimit-Reset") ?? Number.NaN);
  return reset > 0 ? Math.max(0, reset - epochNowMs) : null;
}

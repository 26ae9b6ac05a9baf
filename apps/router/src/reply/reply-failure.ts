import { stripVTControlCharacters } from "node:util";
import { APICallError } from "@ai-sdk/provider";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError } from "./broken-reply.ts";
import { HttpError } from "../http-error.ts";
import type { Redact } from "./redactor.ts";
import type { Upstream } from "./upstream.ts";

interface FailedCall {
  readonly service: Pick<Upstream, "type" | "name" | "keyVariable">;
  readonly limit: Attempt["limit"];
}

/** Describes the failure of a reply call; a time limit explains the error that it caused. */
export function toReplyFailure(
  error: unknown,
  { strictly }: Redact,
  { service, limit }: FailedCall,
) {
  const rootError = findCause(error, (each) => each instanceof BrokenReplyError) ?? error;
  const servedError = limit === null ? (Object(rootError) as Partial<APICallError>) : {};
  const refusalStatus = rootError instanceof HttpError ? rootError.status : 0;
  const { statusCode = refusalStatus, isRetryable = false } = servedError;
  const call = findCause(rootError, (possibleCause) => APICallError.isInstance(possibleCause));
  // For a lost connection, the provider of the gateway makes up a status.
  const answerStatus = call === null ? statusCode : (call.statusCode ?? 0);
  const clear = (words: string | null) => (words && strictly(words) === words ? words : null);
  const [code, retryAfter] = [clear(findCode(call ?? rootError)), clear(findRetryAfter(call))];
  const param = clear(findParam(call ?? rootError));
  const isOfRequest = requestStatuses.has(statusCode) || code === TOO_LONG;
  const errorDetails = { code, retryAfter, ...(param !== null && { param }) };
  const httpError = statusCode < 400 ? null : { status: statusCode, ...errorDetails };
  return {
    replyError: limit === null ? strictly(describe(rootError, service)) : tooSlow[limit],
    /** The time limit that ended the call. */
    failure: limit,
    /** The error of the model's service; the code is one like `context_length_exceeded`. */
    httpError: limit === null ? httpError : { status: 504, code: null, retryAfter: null },
    /** How the model failed; null if another model would fail too. */
    cause: limit === null ? toCause(statusCode, code, call ?? rootError) : limitCauses[limit],
    /** Whether the model may take another request: this one is too long, or has a part that it cannot read. */
    isOfRequest,
    /** Whether the same model may be asked again. */
    isTemporary: isRetryable,
    /** Whether the service may charge for the call: it was sent, and no status rejected it. */
    maybeBilled: limit !== null || (answerStatus < 400 && findCause(rootError, isUnsent) === null),
  } as const;
}

const tooSlow = {
  "idle-timeout": "The reply model sent nothing for too long; try again later.",
  timeout: "The reply model took too long; try again later.",
};

/** Time for the whole reply is over for every model. */
const limitCauses = { "idle-timeout": "model-failed", timeout: null } as const;

/** The code of a conversation that a model cannot hold. */
export const TOO_LONG = "context_length_exceeded";

/** The request has a fault, unless the words are about the model; a 413 may be too large for it alone. */
const requestStatuses: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Statuses below 500 of a service that may answer later. */
const temporaryStatuses: ReadonlySet<number> = new Set([408, 409, 424, 425, 499]);

function toCause(status: number, errorCode: string | null, error: unknown) {
  // A status below 400 is that of a broken reply; without one, the service was not reached.
  if (status < 400 || status >= 500 || temporaryStatuses.has(status)) return "model-failed";
  const isOfModel = !requestStatuses.has(status) || status === 413 || errorCode === TOO_LONG;
  return isOfModel || modelRefusal.test(toMessage(error)) ? "model-refused" : null;
}

/** Words of a refusal that another model, or a service with another account, may not give. */
const modelRefusal =
  /\bcredit balance\b|\bapi key (?:not valid|expired)|\bmodel_(?:not_found|decommissioned)\b|\bmodel\b.{0,80}\b(?:not found|decommissioned|does not exist|not (?:available|supported))|\bdo(?:es)?(?: not|n't) support\b|\bnot supported (?:with|by|for) this model\b/i;

function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const responseBody = APICallError.isInstance(error) ? (error.responseBody ?? "") : "";
  return `${error.message}\n${responseBody.slice(0, 4000)}`;
}

/** Whether no connection was made: its host, its address or its certificate failed. */
function isUnsent(possibleCause: unknown): possibleCause is Error {
  const { code, maybeBilled } = Object(possibleCause) as { code?: unknown; maybeBilled?: unknown };
  return maybeBilled === false || unsentCodes.test(String(code));
}

const unsentCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|(ERR_TLS|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_.*)$/;

/** Returns an error or the first of its causes that is of a kind. */
function findCause<TError>(error: unknown, is: (error: unknown) => error is TError): TError | null {
  if (is(error)) return error;
  return error instanceof Error ? findCause(error.cause, is) : null;
}

function describe(error: unknown, { type, name, keyVariable }: FailedCall["service"]): string {
  if (!(error instanceof Error)) return "The reply model failed without a reason.";
  // The `ai` package replaces the gateway's message about a key with a page of terminal colours.
  const isGatewayKey = ["GatewayAuthenticationError", "GatewayError"].includes(error.name);
  const isCall = APICallError.isInstance(error);
  if (isGatewayKey || (isCall && error.statusCode === 401)) {
    const serverName = type === "gateway" ? "The gateway" : `The upstream ${name}`;
    return `${serverName} refused the key; ${keyVariable === null ? "set apiKeyEnv" : `check ${keyVariable}`}.`;
  }
  if (isCall && error.statusCode === undefined) {
    const isOwn = keyVariable === "ROUTER_REPLY_API_KEY";
    const address = isOwn ? "ROUTER_REPLY_BASE_URL" : `the address of the upstream ${name}`;
    return toLine(`${error.message}. Check ${address}.`);
  }
  return toLine(listWords(error)) || `The reply model failed with ${error.name}.`;
}

function findRetryAfter(apiError: APICallError | null): string | null {
  const headers = apiError?.responseHeaders ?? {};
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return String(Math.ceil(milliseconds / 1000));
  const retryHeader = headers["retry-after"] ?? "";
  return /^[\w ,:.+-]{1,40}$/.test(retryHeader) ? retryHeader : null; // seconds, or a date
}

/** Returns the code of an error in OpenAI's form. Some services give only a message. */
function findCode(error: unknown): string | null {
  const isOfService = APICallError.isInstance(error) || error instanceof BrokenReplyError;
  if (!isOfService) return null;
  const { statusCode = 400 } = error; // a limit of tokens in a minute is a 429
  if (statusCode < 429 && tooLong.test(error.message)) return TOO_LONG;
  const errorBody = "data" in error ? (error.data as { error?: { code?: unknown } | null }) : null;
  const code = errorBody?.error?.code;
  return typeof code === "string" && /^[a-z_]{1,60}$/.test(code) ? code : null;
}

/** Returns the field that a refusal is about. */
function findParam(error: unknown): string | null {
  if (error instanceof HttpError) return error.details.param ?? null;
  if (!APICallError.isInstance(error)) return null;
  const { error: errorBody } = Object(error.data) as { error?: { param?: unknown } | null };
  const param = errorBody?.param;
  return typeof param === "string" && /^[\w.[\]-]{1,100}$/.test(param) ? param : null;
}

const tooLong =
  /\b(?:prompt|input|request) (?:is )?too (?:long|large)\b|\bcontext (?:length|window|size|limit)\b|\bmaximum (?:prompt|context|number of tokens|input)\b|\bmax_prompt_tokens\b|\btoo many (?:input )?tokens\b|\breduce the length\b/i;

/** Returns the wait of a `Retry-After`, in seconds or a date, in milliseconds; NaN if it is neither. */
export function retryAfterMs(retryAfter: string, nowMs: number): number {
  const seconds = Number(retryAfter);
  return Number.isNaN(seconds) ? Date.parse(retryAfter) - nowMs : seconds * 1000;
}

/** An answer that is not in the gateway's form has its call as its cause. */
function listWords({ name, message, cause }: Error): string {
  if (name !== "GatewayResponseError" || !APICallError.isInstance(cause)) return message;
  const { statusCode: status, message: words } = cause;
  return status === undefined ? words : `${words} (status ${status})`;
}

function toLine(messageText: string): string {
  return stripVTControlCharacters(messageText).replaceAll(/\s+/g, " ").trim().slice(0, 1000); // chosen
}

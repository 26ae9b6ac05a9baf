import {
  AuthenticationError,
  EvaluatorError,
  RateLimitError,
  TimeoutError,
} from "evaluator-client";
import type { Context, ErrorHandler, NotFoundHandler } from "hono";
import { UnfitCalibrationError } from "../decision/decide.ts";
import { HttpError } from "../http-error.ts";
import type { Redact } from "../security/redactor.ts";
import type { ClientEnv } from "./client-request.ts";

/** What a failure is answered with. */
export interface FailureParts {
  readonly redact: Redact;
  readonly reportDefect: (error: Error) => void;
}

/** Answers for whatever was thrown: an HTTP error, a failed evaluation by its kind, or a defect. */
export function failureRoute({ redact, reportDefect }: FailureParts): ErrorHandler<ClientEnv> {
  return (thrown, c) => {
    if (c.var.clientSignal.aborted) return new Response(null, { status: 499 }); // nobody is left to read
    if (thrown instanceof HttpError) return sendHttpError(c, thrown);
    if (thrown instanceof UnfitCalibrationError) {
      return sendHttpError(
        c,
        new HttpError(502, redact.strictly(thrown.message), { headers: neverRetry }),
      );
    }
    if (thrown instanceof EvaluatorError) return sendHttpError(c, toHttpError(thrown, redact));
    reportDefect(thrown);
    return sendHttpError(c, new HttpError(500, defectMessage));
  };
}

/** What a client is answered after an error that nobody expected. */
export const defectMessage = "The router failed; its console says where.";

const nothingHere = new HttpError(404, "There is nothing here; the page is at /.");
const noSuchApi = new HttpError(
  404,
  "There is no such path in this API; use GET /v1/models or POST /v1/chat/completions.",
);

/** Answers for a path that there is not, and names those that there are. */
export const notFoundRoute: NotFoundHandler = (c) =>
  sendHttpError(c, isOpenAi(c) ? noSuchApi : nothingHere);

/** Throws for a method that a path does not take. */
export function throwMethodError(_c: Context, methods: readonly string[]): never {
  const headers = { Allow: methods.join(", ") };
  throw new HttpError(405, `Use ${methods.join(" or ")} here.`, { headers });
}

/** Returns the HTTP error for a failed evaluation; a rejected key is the router's fault, not its client's. */
export function toHttpError(error: EvaluatorError, redact: Redact): HttpError {
  const message = redact.strictly(error.message);
  const once = { headers: neverRetry };
  if (error instanceof TimeoutError) return new HttpError(504, message, once);
  if (error instanceof RateLimitError) {
    const { retryAfterMs } = error;
    const seconds = retryAfterMs === null ? null : String(Math.ceil(retryAfterMs / 1000));
    return new HttpError(429, message, { headers: retryHeaders(seconds) });
  }
  if (error instanceof AuthenticationError && !error.needsPaidCredits) {
    const rejected = `The evaluation service refused this router's key. ${message}`;
    return new HttpError(502, rejected, once);
  }
  return new HttpError(502, message, once);
}

const neverRetry = { "x-should-retry": "false" };

/**
 * Returns the header that says when to ask again. The router has tried again already: a client that
 * does so too, without knowing when, only spends more.
 */
export function retryHeaders(retryAfter: string | null): Record<string, string> {
  return retryAfter === null ? neverRetry : { "Retry-After": retryAfter };
}

/** Answers with an error in the form that clients of this path read: OpenAI's, or `{ error }`. */
function sendHttpError(c: Context, error: HttpError): Response {
  const { status, message, details } = error;
  const body = isOpenAi(c) ? openAiError(message, error) : { error: message };
  return c.json(body, status, details.headers);
}

function isOpenAi(c: Context): boolean {
  return c.req.path.startsWith("/v1/");
}

/** What an error in OpenAI's form says beside its message. */
export interface OpenAiErrorParts {
  readonly status: number;
  readonly details?: { readonly param?: string; readonly code?: string };
}

const openAiTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** Returns a failure in OpenAI's form. */
export function openAiError(message: string, { status, details = {} }: OpenAiErrorParts) {
  const { param = null, code = null } = details;
  const type = openAiTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { error: { message, type, param, code } };
}

import {
  AuthenticationError,
  EvaluatorError,
  RateLimitError,
  TimeoutError,
} from "evaluator-client";
import type { Context, Env, Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { openAiError } from "../apis/openai-form.ts";
import { UnfitCalibrationError } from "../decision/decide.ts";
import { HttpError } from "../http-error.ts";
import type { Redact } from "../reply/redactor.ts";

/** Answers unknown paths and methods, HTTP errors, failed evaluations and defects. */
export function addFailureRoutes<TEnv extends Env>(
  app: Hono<TEnv>,
  { redact, reportDefect }: { redact: Redact; reportDefect: (error: Error) => void },
): void {
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed(_c, methods) {
        const headers = { Allow: methods.join(", ") };
        throw new HttpError(405, `Use ${methods.join(" or ")} here.`, { headers });
      },
    }),
  );
  app.notFound((c) => {
    const message = isOpenAi(c)
      ? "There is no such path in this API; use GET /v1/models or POST /v1/chat/completions."
      : "There is nothing here; the page is at /.";
    return sendHttpError(c, new HttpError(404, message));
  });
  app.onError((thrown, c: Context) => {
    const clientSignal = c.get("clientSignal") as AbortSignal;
    if (clientSignal.aborted) return new Response(null, { status: 499 }); // the client is gone
    if (thrown instanceof HttpError) return sendHttpError(c, thrown);
    if (thrown instanceof UnfitCalibrationError || thrown instanceof EvaluatorError) {
      return sendHttpError(c, toHttpError(thrown, redact));
    }
    reportDefect(thrown);
    return sendHttpError(c, new HttpError(500, defectMessage));
  });
}

/** The answer to a client after an unexpected error. */
export const defectMessage = "The router failed; its console shows where.";

/** A rejected key is the router's fault, not its client's. */
function toHttpError(error: EvaluatorError | UnfitCalibrationError, redact: Redact): HttpError {
  const message = redact.strictly(error.message);
  const once = { retryAfter: null };
  if (error instanceof TimeoutError) return new HttpError(504, message, once);
  if (error instanceof RateLimitError) {
    const { retryAfterMs } = error;
    const retryAfter = retryAfterMs === null ? null : String(Math.ceil(retryAfterMs / 1000));
    return new HttpError(429, message, { retryAfter });
  }
  if (error instanceof AuthenticationError && !error.needsPaidCredits) {
    const rejected = `The evaluation service refused this router's key. ${message}`;
    return new HttpError(502, rejected, once);
  }
  return new HttpError(502, message, once);
}

function sendHttpError(c: Context, error: HttpError): Response {
  const { status, message, details } = error;
  const { headers, retryAfter } = details;
  if (retryAfter === null) c.header("x-should-retry", "false");
  else if (retryAfter !== undefined) c.header("Retry-After", retryAfter);
  const body = isOpenAi(c) ? openAiError(message, status, details) : { error: message };
  return c.json(body, status, headers);
}

function isOpenAi(c: Context): boolean {
  return c.req.path.startsWith("/v1/");
}

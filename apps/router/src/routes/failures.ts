import {
  AuthenticationError,
  EvaluatorError,
  RateLimitError,
  TimeoutError,
} from "evaluator-client";
import type { Context, Env, Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { UnfitCalibrationError } from "../decision/decide.ts";
import { defectMessage, HttpError } from "../http-error.ts";
import type { Redact } from "../reply/redactor.ts";

interface FailureParts {
  readonly redact: Redact;
  readonly reportDefect: (error: Error) => void;
  /** Describes an unknown path of an API; null for another path. */
  readonly describePath: (path: string) => string | null;
  /** Returns the body in the form of the client's API. */
  readonly toBody: (c: Context, error: HttpError) => object;
}

/** Answers unknown paths and methods, HTTP errors, failed evaluations and defects. */
export function addFailureRoutes<TEnv extends Env>(
  app: Hono<TEnv>,
  { redact, reportDefect, describePath, toBody }: FailureParts,
): void {
  const sendHttpError = (c: Context, error: HttpError) => send(c, error, toBody(c, error));
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
    const message = describePath(c.req.path) ?? "There is nothing here; the page is at /.";
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

function send(c: Context, { status, details }: HttpError, body: object): Response {
  const { headers, retryAfter } = details;
  if (retryAfter === null) c.header("x-should-retry", "false");
  else if (retryAfter !== undefined) c.header("Retry-After", retryAfter);
  return c.json(body, status, headers);
}

import { EvaluatorError } from "evaluator-client";
import type { ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { toEvaluationFailure } from "../chat/evaluation-failure.ts";
import type { Redact } from "../security/redactor.ts";
import type { ClientEnv } from "./client-env.ts";

/** What a failure is told with. */
export interface FailureParts {
  readonly redact: Redact;
  readonly reportDefect: (error: Error) => void;
  /** Puts a failure into a body. @default { error } */
  readonly form?: (error: string, status: number) => object;
}

/** Answers for a route that threw: a failed evaluation by its kind, anything else as a defect. */
export function failureRoute(parts: FailureParts): ErrorHandler<ClientEnv> {
  const { redact, reportDefect, form = (error) => ({ error }) } = parts;
  return (thrown, c) => {
    if (c.var.clientSignal.aborted) return new Response(null, { status: 499 }); // nobody is left to read
    if (thrown instanceof HTTPException) {
      return c.json(form(thrown.message, thrown.status), thrown.status);
    }
    if (!(thrown instanceof EvaluatorError)) {
      reportDefect(thrown);
      return c.json(form("The router failed; its console says where.", 500), 500);
    }
    const { status, error, retryAfterSeconds } = toEvaluationFailure(thrown);
    if (retryAfterSeconds !== null) c.header("Retry-After", String(retryAfterSeconds));
    return c.json(form(redact(error), status), status);
  };
}

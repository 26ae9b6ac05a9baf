import { EvaluatorError } from "evaluator-client";
import type { ErrorHandler } from "hono";
import { toEvaluationFailure } from "../chat/evaluation-failure.ts";
import type { Redact } from "../security/redactor.ts";
import type { ClientEnv } from "./client-signal.ts";

/** Answers for a route that threw: a failed evaluation by its kind, anything else as a defect. */
export function failureRoute(
  redact: Redact,
  reportDefect: (error: Error) => void,
): ErrorHandler<ClientEnv> {
  return (thrown, c) => {
    if (c.var.clientSignal.aborted) return new Response(null, { status: 499 }); // nobody is left to read
    if (!(thrown instanceof EvaluatorError)) {
      reportDefect(thrown);
      return c.json({ error: "The router failed; its console says where." }, 500);
    }
    const { status, error, retryAfterSeconds } = toEvaluationFailure(thrown);
    if (retryAfterSeconds !== null) c.header("Retry-After", String(retryAfterSeconds));
    return c.json({ error: redact(error) }, status);
  };
}

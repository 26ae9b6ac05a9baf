import { EvaluatorError } from "evaluator-client";
import type { ErrorHandler } from "hono";
import { toEvaluationFailure } from "../chat/evaluation-failure.ts";
import type { Redact } from "../security/redactor.ts";
import type { ClientEnv } from "./client-env.ts";
import { Refusal } from "./refusal.ts";
import { sendRefusal } from "./send-refusal.ts";

/** What a failure is told with. */
export interface FailureParts {
  readonly redact: Redact;
  readonly reportDefect: (error: Error) => void;
}

/** Answers for whatever was thrown: a refusal, a failed evaluation by its kind, or a defect. */
export function failureRoute({ redact, reportDefect }: FailureParts): ErrorHandler<ClientEnv> {
  return (thrown, c) => {
    if (c.var.clientSignal.aborted) return new Response(null, { status: 499 }); // nobody is left to read
    if (thrown instanceof Refusal) return sendRefusal(c, thrown);
    if (thrown instanceof EvaluatorError) return sendRefusal(c, toRefusal(thrown, redact));
    reportDefect(thrown);
    return sendRefusal(c, new Refusal(500, "The router failed; its console says where."));
  };
}

/** The router has tried again already; a client that does too, without being told when, only spends more. */
function toRefusal(error: EvaluatorError, redact: Redact): Refusal {
  const { status, error: message, retryAfterSeconds } = toEvaluationFailure(error);
  const retry = retryAfterSeconds === null ? { "x-should-retry": "false" } : null;
  const headers = retry ?? { "Retry-After": String(retryAfterSeconds) };
  return new Refusal(status, redact(message), { headers });
}

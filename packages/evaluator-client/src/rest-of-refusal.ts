import type { RefusalError } from "./errors.ts";
import type { Evaluation } from "./evaluation.ts";

/** Returns what a model that refused some questions answered to the others, with its price; null if nothing is known. */
export function restOfRefusal(error: RefusalError): Evaluation | null {
  const { rest, answers, usage, costUsd, attempts } = error;
  if (rest === null) return null;
  return {
    ...rest,
    answers: answers as Evaluation["answers"],
    usage,
    warnings: [...rest.warnings],
    providerMetadata: {},
    costUsd,
    requestId: null,
    status: null,
    headers: {},
    timing: { totalMs: 0, providerMs: null, attempts },
    raw: null,
  };
}

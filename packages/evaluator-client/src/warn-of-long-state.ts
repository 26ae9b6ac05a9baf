import type { Logger } from "./logger.ts";
import { writeLine } from "./logger.ts";

const message =
  "a state is surely over the 32k tokens that the service reads; shorten it, for example with cutText().";
let hasWarned = false;

/** Says that a state is too long: to the logger each time, else once as a warning of the process. */
export function warnOfLongState(logger: Logger | undefined): void {
  if (logger !== undefined) return writeLine(logger, "warn", message);
  if (hasWarned) return;
  hasWarned = true;
  const warning = { type: "EvaluatorWarning", code: "EVALUATOR_STATE_TOO_LONG" };
  globalThis.process?.emitWarning?.(message, warning);
}

import { ConfigurationError, createEvaluator, type Evaluator } from "evaluator-client";
import { TriageError } from "./errors.ts";
import { offlineEvaluator } from "./offline-evaluator.ts";
import type { Environment } from "./surroundings.ts";

const waysOn = `Two ways on:
  set it in the file .env (.env.example says how) and run the same command again, or
  add --offline, and the emulator on this machine answers without a key.`;

/**
 * Gives the evaluator that answers: the emulator when offline, else the service that `env` names.
 *
 * @throws TriageError with the ways on when `env` names none.
 */
export function openEvaluator(options: { offline: boolean; env: Environment }): Evaluator {
  if (options.offline) return offlineEvaluator();
  try {
    return createEvaluator({ env: options.env });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new TriageError(`${error.message}\n${waysOn}`, { cause: error });
  }
}

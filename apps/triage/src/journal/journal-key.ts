import { createHash } from "node:crypto";
import type { EvaluationRequest } from "evaluator-client";
import type { Service } from "../service.ts";

/** What an answer depends on. */
export interface AskedCall {
  readonly request: EvaluationRequest;
  /** Who answers. */
  readonly service: Service;
  /** How many earlier records of the input have the same state; each record has its own request. */
  readonly repeat: number;
}

/** Gives the name an answer is kept under: a hash of state, questions, model and wire. */
export function journalKey({ request, service, repeat }: AskedCall): string {
  const { state, questions } = request;
  // The order of keys is input to the model (contract section 2.1), so it counts here as well.
  const asked = JSON.stringify([service.wire, service.modelId, state, questions, repeat]);
  return createHash("sha256").update(asked).digest("hex");
}

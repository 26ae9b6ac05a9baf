import { hash } from "node:crypto";
import type { Questions } from "evaluator-client";
import type { Service } from "../service.ts";

/** What all calls of a run have in common. */
export interface CallSetup {
  readonly questions: Questions;
  /** Who answers. */
  readonly service: Service;
}

/** Gives the hash of questions, model and wire. */
export function setupHash({ questions, service }: CallSetup): string {
  // The order of keys is input to the model (contract section 2.1), so it counts here as well.
  return hash("sha256", JSON.stringify([service.wire, service.modelId, questions]), "base64url");
}

import type { Environment } from "./surroundings.ts";

/** Gives the name of the transport that `env` asks for. */
export function transportName(env: Environment): string {
  return env["EVALUATOR_TRANSPORT"]?.trim() || "gateway";
}

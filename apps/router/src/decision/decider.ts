import { basisOf } from "evaluator-calibration";
import type { Evaluation } from "evaluator-client";
import type { Decider } from "./decision.ts";

/** Returns how an answer came: the engine's address, marked if the answer itself names the emulator. */
export function wireOf({ headers }: Pick<Evaluation, "headers">, engineAddress: string): string {
  const isUnmarked = "x-evaluator-emulator" in headers && !isEmulated(null, engineAddress);
  return isUnmarked ? `emulator ${engineAddress}` : engineAddress;
}

/** Returns whether the emulator answers with this model or on this wire. */
export function isEmulated(modelId: string | null, wire: string | null): boolean {
  return basisOf(modelId, wire) !== "model";
}

/** Returns who made an answer; a wire of null is not known. */
export function deciderOf(modelId: string | null, wire: string | null): Decider {
  return { modelId, isEmulated: isEmulated(modelId, wire) || (wire === null ? null : false) };
}

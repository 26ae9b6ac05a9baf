import type { CalibrationArtifact } from "evaluator-calibration";
import { tierQuestionHash } from "../decision/tier-question.ts";

/**
 * Returns what `evaluator-cli calibrate` writes for the question that picks a tier; a temperature of 2
 * makes less sure.
 */
export function calibrationOf(modelId: string): CalibrationArtifact {
  return {
    version: 1,
    kind: "temperature",
    parameters: { temperature: 2 },
    question: "tier",
    model: { id: modelId, wire: "gateway http://gateway.invalid/v4/ai" },
    questionHash: tierQuestionHash,
    rounding: { probabilityDecimals: 2 },
    fittedOn: { n: 204, from: null, to: null, hash: "0" },
    heldOut: { before: 0.4, after: 0.3 },
    thresholds: [],
  };
}

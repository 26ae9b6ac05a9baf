import {
  type CalibrationArtifact,
  parseCalibrationArtifact,
  questionHash,
} from "evaluator-calibration";
import type { Questions } from "evaluator-client";

type Threshold = Pick<CalibrationArtifact["thresholds"][number], "action" | "threshold">;

/** Returns a calibration of a model that promises acts on the question refund. */
export function refundCalibration(
  modelId: string | null,
  questions: Questions,
  thresholds: readonly Threshold[],
): CalibrationArtifact {
  const promise = { question: "refund", maxRisk: 0.05, confidence: 0.95, n: 92, wrong: 0 };
  const artifact = {
    version: 2,
    model: { id: modelId, wire: "gateway" },
    questionHash: questionHash(questions),
    rounding: { probabilityDecimals: 2 },
    kind: "none",
    parameters: {},
    fittedOn: { n: 200, from: null, to: null, hash: "abc", ids: [] },
    heldOut: null,
    thresholds: thresholds.map((threshold) => ({ ...promise, level: 0.025, ...threshold })),
  };
  return parseCalibrationArtifact(JSON.stringify(artifact));
}

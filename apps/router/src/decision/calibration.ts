import { readFile } from "node:fs/promises";
import {
  type CalibrationArtifact,
  parseCalibrationArtifact,
  recalibrationOf,
} from "evaluator-calibration";
import { CliError, describeSystemError } from "evaluator-cli-kit";
import { tierQuestionHash } from "../tier-question.ts";

/**
 * Reads the calibration that `evaluator calibrate` wrote for the question that picks a tier.
 *
 * @throws CliError when it is none, was made for other questions, or holds nothing for this one.
 */
export async function readCalibration(path: string): Promise<CalibrationArtifact> {
  const toError = (problem: string, cause?: unknown) =>
    new CliError(
      `ROUTER_CALIBRATION=${JSON.stringify(path)} ${problem}. Name a calibration.json that evaluator calibrate wrote from this router's decision log.`,
      { cause },
    );
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw toError(`cannot be read: ${describeSystemError(error) ?? "unknown error"}`, error);
  });
  const artifact = parsed(text, toError);
  if (artifact.questionHash !== null && artifact.questionHash !== tierQuestionHash) {
    throw toError("was made for other questions than the one that picks a tier");
  }
  if (recalibrationOf(artifact, "tier")?.kind === "temperature") return artifact;
  throw toError("corrects no choice of a tier");
}

function parsed(text: string, toError: (problem: string, cause: unknown) => CliError) {
  try {
    return parseCalibrationArtifact(text);
  } catch (error) {
    throw toError(error instanceof Error ? error.message : "is wrong", error);
  }
}

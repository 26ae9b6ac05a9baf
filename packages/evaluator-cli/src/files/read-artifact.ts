import { resolve } from "node:path";
import { type CalibrationArtifact, parseCalibrationArtifact } from "evaluator-calibration";
import { type CliContext, readParsedFile } from "evaluator-kit";

/** Reads a calibration file, by its name as typed. @throws CliError that names it and what is wrong. */
export async function readArtifact(
  name: string,
  { cwd }: CliContext,
): Promise<CalibrationArtifact> {
  const advice = "Name a calibration.json that evaluator calibrate wrote.";
  return await readParsedFile(resolve(cwd, name), {
    name,
    parse: parseCalibrationArtifact,
    advice,
  });
}

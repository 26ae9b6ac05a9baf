import { type CalibrationArtifact, parseCalibrationArtifact } from "evaluator-calibration";
import { CliError, printable, readTextFile } from "evaluator-cli-kit";

/** Reads a calibration file. @throws CliError that names it and what is wrong. */
export async function readArtifact(path: string, name: string): Promise<CalibrationArtifact> {
  const text = await readTextFile(path, "Check its name and rights.");
  try {
    return parseCalibrationArtifact(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : "cannot be read";
    throw new CliError(printable`${name} ${problem}. Write it anew with evaluator calibrate.`, {
      cause: error,
    });
  }
}

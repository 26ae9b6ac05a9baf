import { hash } from "node:crypto";
import { resolve } from "node:path";
import { type CalibrationArtifact, parseCalibrationArtifact } from "evaluator-calibration";
import { type CliContext, readParsedFile } from "evaluator-kit";

/** Reads a calibration file. @throws CliError with its name and the problem. */
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

const MOST_IDS = 10_000;

/** Returns the form of a labelled id in an artifact: the first 8 hex digits of its SHA-256. */
export function hashOfId(id: string): string {
  return hash("sha256", id).slice(0, 8);
}

/** Returns the sorted hashes of the first 10,000 labelled ids. */
export function hashesOf(ids: Iterable<string>): string[] {
  const kept = new Set<string>();
  for (const id of ids) {
    // A million hashes take as long as the whole report.
    if (kept.size === MOST_IDS) break;
    kept.add(hashOfId(id));
  }
  return [...kept].toSorted();
}

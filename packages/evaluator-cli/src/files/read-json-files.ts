import { hash } from "node:crypto";
import { resolve } from "node:path";
import { parseCalibrationArtifact } from "evaluator-calibration";
import { type Questions, questionSchema } from "evaluator-client";
import {
  CliError,
  type CliContext,
  parseJson,
  printable,
  readParsedFile,
  readTextFile,
} from "evaluator-kit";

/** Reads a calibration file. @throws CliError with its name and the problem. */
export async function readArtifact(name: string, { cwd }: CliContext) {
  const advice = "Name a calibration.json that evaluator calibrate wrote.";
  const parse = parseCalibrationArtifact;
  return await readParsedFile(resolve(cwd, name), { name, parse, advice });
}

/** Returns the form of a labelled id in an artifact: the first 8 hex digits of its SHA-256. */
export function hashOfId(id: string): string {
  return hash("sha256", id).slice(0, 8);
}

/** Reads a file of question id to question, if one is named. @throws CliError with each problem. */
export async function readQuestionsFile(name: string | undefined, { cwd }: CliContext) {
  if (name === undefined) return null;
  const path = resolve(cwd, name);
  const text = await readTextFile(path, "Check the path after --questions.");
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    const wanted = '{ "scam": { "type": "boolean", "instructions": "…" } }';
    throw new CliError(printable`${name} is no JSON object of questions, such as ${wanted}.`);
  }
  const problems = Object.entries(json).flatMap(([id, question]) => {
    const issues = questionSchema.safeParse(question).error?.issues ?? [];
    return issues.map(({ path: at, message }) => printable`  ${[id, ...at].join(".")}: ${message}`);
  });
  if (problems.length === 0) return json as Questions;
  throw new CliError(printable`${name} cannot be used:` + `\n${problems.join("\n")}`);
}

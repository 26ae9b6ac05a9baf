import { resolve } from "node:path";
import { type CliContext, CliError, printable, readParsedFile } from "evaluator-kit";
import {
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
  parseCalibrationArtifact,
  questionHash,
} from "evaluator-calibration";
import type { Answer, Questions } from "evaluator-client";
import type { KeptEvaluation } from "./journal/kept-answer.ts";

/** An evaluation whose answers a calibration may have changed; the journal keeps it as it came. */
export interface CalibratedAnswers {
  readonly answers: Readonly<Record<string, Answer>>;
  /** Of the answers that are as they were printed. */
  readonly confidence: Readonly<Record<string, number | null>>;
  /** The answers as they came, of the questions whose answers changed. */
  readonly printed: Readonly<Record<string, Answer>>;
}

/**
 * Reads the calibration that `evaluator calibrate` wrote.
 *
 * @throws CliError when it is none, names no questions, or was made for others.
 */
export async function readCalibration(
  file: string,
  questions: Questions,
  { cwd }: CliContext,
): Promise<CalibrationArtifact> {
  const path = resolve(cwd, file);
  const advice = "Name a calibration.json that evaluator calibrate wrote.";
  const artifact = await readParsedFile(path, { parse: parseCalibrationArtifact, advice });
  if (artifact.questionHash === questionHash(questions)) return artifact;
  if (artifact.questionHash === null) {
    const problem = printable`${path} does not name the questions it was made for`;
    throw new CliError(`${problem}; calibrate again on the journal, which keeps them.`);
  }
  const problem = printable`${path} was made for other questions than this run asks`;
  throw new CliError(`${problem}; calibrate again on answers to these.`);
}

/**
 * Returns the answers of an evaluation, recalibrated where there is a calibration.
 *
 * @throws CliError when another model answered than the calibration was made for.
 */
export function calibratedAnswers(
  { answers, confidence, modelId }: Pick<KeptEvaluation, "answers" | "confidence" | "modelId">,
  artifact: CalibrationArtifact | null,
): CalibratedAnswers {
  if (artifact === null) return { answers, confidence, printed: {} };
  const changed = applied({ answers, confidence: { ...confidence }, modelId }, artifact);
  const printed = Object.entries(answers).filter(([id, answer]) => changed.answers[id] !== answer);
  return { ...changed, printed: Object.fromEntries(printed) };
}

function applied(
  evaluation: Pick<CalibratedAnswers, "answers" | "confidence"> & { modelId: string | null },
  artifact: CalibrationArtifact,
) {
  try {
    return calibrate(evaluation, artifact);
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    const next =
      "No results were written, and every answer is kept; run again without --calibration.";
    throw new CliError(printable`${error.message} ` + next, { cause: error });
  }
}

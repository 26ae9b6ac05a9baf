import { hash } from "node:crypto";
import { resolve } from "node:path";
import {
  type CliContext,
  CliError,
  printable,
  readParsedFile,
  tooLittleEvidence,
} from "evaluator-kit";
import {
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
  decide,
  type Decision,
  parseCalibrationArtifact,
  type PrintedEvaluation,
  questionHash,
  questionProblem,
} from "evaluator-calibration";
import { type Answer, isStateCut, type Questions } from "evaluator-client";
import type { KeptEvaluation } from "./journal/kept-answer.ts";

/** The answers of an evaluation after a calibration; the journal keeps the answers before it. */
export interface CalibratedAnswers {
  readonly answers: Readonly<Record<string, Answer>>;
  /** The confidences that still apply. */
  readonly confidence: Readonly<Record<string, number | null>>;
  /** The answers before the calibration. */
  readonly printed: Readonly<Record<string, Answer>>;
}

/** Reads a calibration that `evaluator-cli calibrate` wrote for the same questions; null if they are not known. */
export async function readCalibration(
  file: string,
  questions: Questions | null,
  { cwd }: Pick<CliContext, "cwd">,
): Promise<CalibrationArtifact> {
  const advice = "Name a calibration.json of evaluator-cli calibrate.";
  const parse = parseCalibrationArtifact;
  const artifact = await readParsedFile(resolve(cwd, file), {
    fileName: file,
    parse: parse,
    advice,
  });
  const problem = questions && questionProblem(artifact, questionHash(questions));
  if (problem !== null) throw new CliError(printable`${file} ${problem}.`);
  return artifact;
}

/** Returns the answers of an evaluation, recalibrated if there is a calibration. */
export function calibratedAnswers(
  evaluation: AskedEvaluation,
  artifact: CalibrationArtifact | null,
): CalibratedAnswers {
  const { answers, confidence, modelId, route, steps } = evaluation;
  if (artifact === null) return { answers, confidence, printed: answers };
  return refuseMismatch(() =>
    calibrate({ answers, confidence: { ...confidence }, modelId, route, steps }, artifact),
  );
}

/** Returns the form of a labelled id in a calibration: the first 8 hex digits of its SHA-256. */
export function hashLabelledId(id: string): string {
  return hash("sha256", id).slice(0, 8);
}

/** Returns a function of an id: whether a label of the record made one of some calibrations. */
export function findFitted(artifacts: readonly CalibrationArtifact[]): (id: string) => boolean {
  const ids = new Set(artifacts.flatMap(({ fittedOn }) => fittedOn.ids ?? []));
  return (id) => ids.size > 0 && ids.has(hashLabelledId(id));
}

/** Returns whether a calibration promises acts. */
export function isPromised(artifact: CalibrationArtifact | null | undefined): boolean {
  return artifact != null && artifact.thresholds.length > 0;
}

/** Who answered each question, if several engines were asked. */
type AnswerPath = Pick<PrintedEvaluation, "route" | "steps">;
type AskedEvaluation = Pick<KeptEvaluation, "answers" | "confidence" | "modelId"> & AnswerPath;

/** The id of a record, and the state that its journal keeps. */
interface DecidedRecord {
  readonly id: string;
  readonly state?: unknown;
}

interface DecidedEvaluation extends Pick<PrintedEvaluation, "answers" | "modelId">, AnswerPath {
  readonly questionHash?: string | null;
  readonly warnings?: readonly unknown[];
}

/**
 * Returns for each answered question the act that a calibration promises, or why there is none.
 *
 * @param record - If all records of a promise about exactly some are there. @default it permits no act
 */
export function listDecisions(
  decidedEvaluation: DecidedEvaluation | null,
  artifact: CalibrationArtifact | null,
  record?: DecidedRecord,
): Readonly<Record<string, Decision>> {
  // A promise is about states that were read as a whole.
  if (
    decidedEvaluation === null ||
    artifact === null ||
    isStateCut({ warnings: decidedEvaluation.warnings ?? [] })
  )
    return {};
  // `readCalibration` compared the questions of a journal.
  const {
    answers,
    modelId,
    questionHash = artifact.questionHash,
    route,
    steps,
  } = decidedEvaluation;
  const decidedEntry = { answers, modelId, questionHash, route, steps };
  return refuseMismatch(() => decide(decidedEntry, artifact, record));
}

/** Returns a function that decides by the promises of several engines, each about its own answers. */
export function findDecider(artifacts: readonly CalibrationArtifact[]) {
  /** Why an artifact has fitted no answer so far. */
  const misfits = new Map<CalibrationArtifact, unknown>();
  const fitting = new Set<CalibrationArtifact>();
  const decide = (decidedEvaluation: DecidedEvaluation | null, record?: DecidedRecord) => {
    const allDecisions: Record<string, Decision> = {};
    for (const artifact of artifacts) {
      let decisions: ReturnType<typeof listDecisions>;
      try {
        decisions = listDecisions(decidedEvaluation, artifact, record);
        if (Object.keys(decisions).length > 0) fitting.add(artifact);
      } catch (error) {
        // If several engines may be asked, the others' promises are about other answers.
        const { field } = Object((error as CliError).cause) as Partial<CalibrationMismatchError>;
        if (field !== "model" || decidedEvaluation?.route === undefined) throw error;
        misfits.set(artifact, error);
        continue;
      }
      for (const [id, decision] of Object.entries(decisions)) {
        const isKnown = Object.hasOwn(allDecisions, id) && allDecisions[id]?.act !== null;
        const isTold =
          Object.hasOwn(allDecisions, id) && decision.act === null && decision.why === "no-promise";
        if (!isKnown && !isTold) allDecisions[id] = decision;
      }
    }
    return allDecisions;
  };
  return {
    decide,
    /** @throws CliError if an artifact is of a model that gave no answer at all */
    check(): void {
      const [, error] = [...misfits].find(([artifact]) => !fitting.has(artifact)) ?? [];
      if (error !== undefined) throw error;
    },
  };
}

function refuseMismatch<TResult>(apply: () => TResult): TResult {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    const next = "Nothing was written; every answer is kept.";
    throw new CliError(printable`${error.message} ` + next, { cause: error });
  }
}

/** Returns the error for a calibration without a promise. */
export function noPromise(): CliError {
  return tooLittleEvidence(
    "The calibration promises no threshold; label more and calibrate again.",
  );
}

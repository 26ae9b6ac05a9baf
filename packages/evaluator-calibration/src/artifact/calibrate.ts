import type { Numbers } from "../check-rows.ts";
import { applyIsotonic } from "../recalibration/isotonic.ts";
import { applyLogistic } from "../recalibration/logistic.ts";
import { applyTemperature } from "../recalibration/temperature.ts";
import { type CalibrationArtifact, type Recalibration, recalibrationOf } from "./artifact.ts";
import { type AskedQuestions, questionHash } from "./question-hash.ts";

/** An answer in the client's form, with its printed probabilities. */
export type PrintedAnswer =
  | { readonly type: "boolean"; readonly probability: number }
  | {
      readonly type: "choice";
      readonly choice: string;
      readonly probabilities: Readonly<Record<string, number>>;
    }
  | {
      readonly type: "score";
      readonly score: number;
      readonly probabilities: Readonly<Record<string, number>>;
    };

/** What is read of an evaluation; one of the client fits. */
export interface PrintedEvaluation {
  readonly answers: Readonly<Record<string, PrintedAnswer>>;
  /** The model that answered, or null when the service did not say. */
  readonly modelId: string | null;
  /** Of choice and score questions; the service made it from the printed values. */
  readonly confidence?: Readonly<Record<string, number | null>>;
  readonly warnings?: readonly unknown[];
  /** The hash of what was asked, where it is kept beside the answers. */
  readonly questionHash?: string | null;
}

/** An evaluation whose answers were recalibrated. */
export type CalibratedEvaluation<TEvaluation extends PrintedEvaluation> = Omit<
  TEvaluation,
  "warnings"
> & {
  /** True: the answers are not what the service printed. */
  readonly calibrated: true;
  /** The answers as they were printed. */
  readonly printed: TEvaluation["answers"];
  readonly warnings: readonly unknown[];
};

/** How to apply an artifact. */
export interface CalibrateOptions {
  /** What to do when it was made for another model or other questions. @default "throw" */
  readonly onMismatch?: "throw" | "warn";
  /** What was asked, to compare its hash; without it the evaluation's own `questionHash` is compared. */
  readonly questions?: AskedQuestions;
}

/** The artifact was made for another model or other questions, so its thresholds may not hold. */
export class CalibrationMismatchError extends Error {
  /** What differs. */
  readonly field: "model" | "questionHash" | "answer";

  constructor(field: CalibrationMismatchError["field"], message: string) {
    super(message);
    this.name = "CalibrationMismatchError";
    this.field = field;
  }
}

/**
 * Returns a new evaluation with recalibrated answers, the printed ones under `printed`.
 *
 * @throws CalibrationMismatchError when another model answered, or something else was asked.
 */
export function calibrate<TEvaluation extends PrintedEvaluation>(
  evaluation: TEvaluation,
  artifact: CalibrationArtifact,
  { onMismatch = "throw", questions }: CalibrateOptions = {},
): CalibratedEvaluation<TEvaluation> {
  const mismatches = findMismatches(evaluation, artifact, questions);
  if (onMismatch === "throw" && mismatches[0] !== undefined) throw mismatches[0];
  const changed = Object.entries(evaluation.answers).map(([id, answer]) => {
    const recalibration = recalibrationOf(artifact, id);
    const isFit = recalibration !== null && fits(recalibration, answer);
    return { id, isFit, answer: isFit ? recalibrate(answer, recalibration) : answer };
  });
  const left = new Set(changed.filter(({ isFit }) => !isFit).map(({ id }) => id));
  const confidence = Object.entries(evaluation.confidence ?? {}).filter(([id]) => left.has(id));
  return {
    ...evaluation,
    answers: Object.fromEntries(changed.map(({ id, answer }) => [id, answer])),
    ...(evaluation.confidence === undefined ? {} : { confidence: Object.fromEntries(confidence) }),
    warnings: [...(evaluation.warnings ?? []), ...mismatches.map(({ message }) => message)],
    calibrated: true,
    printed: evaluation.answers,
  };
}

function findMismatches(
  { answers, modelId, questionHash: kept }: PrintedEvaluation,
  artifact: CalibrationArtifact,
  questions: AskedQuestions | undefined,
): CalibrationMismatchError[] {
  const found: CalibrationMismatchError[] = [];
  const { model, questionHash: fitted } = artifact;
  if (modelId !== model.id) {
    const who = modelId === null ? "a model that the service does not name" : modelId;
    found.push(
      new CalibrationMismatchError(
        "model",
        `The calibration was made for ${model.id}, and ${who} answered. Calibrate again on its answers.`,
      ),
    );
  }
  const asked = questions === undefined ? kept : questionHash(questions);
  if (fitted === null || (typeof asked === "string" && asked !== fitted)) {
    const message =
      fitted === null
        ? "The calibration does not name the questions it was made for. Calibrate again with --questions."
        : "The calibration was made for other questions than were asked. Calibrate again on answers to these.";
    found.push(new CalibrationMismatchError("questionHash", message));
  }
  for (const [id, answer] of Object.entries(answers)) {
    const recalibration = recalibrationOf(artifact, id);
    const isNamed = !("question" in artifact) || artifact.question !== undefined;
    if (recalibration === null || !isNamed || fits(recalibration, answer)) continue;
    const message = `The calibration of question ${JSON.stringify(id)} is a ${recalibration.kind}, which a ${answer.type} answer does not take.`;
    found.push(new CalibrationMismatchError("answer", message));
  }
  return found;
}

function fits({ kind }: Recalibration, { type }: PrintedAnswer): boolean {
  return (kind === "temperature") === (type !== "boolean");
}

function recalibrate(answer: PrintedAnswer, recalibration: Recalibration): PrintedAnswer {
  const { confidence: _, ...kept } = answer as typeof answer & { confidence?: unknown };
  if (kept.type === "boolean") {
    const [probability = kept.probability] = applyRecalibration([kept.probability], recalibration);
    return { ...kept, probability };
  }
  const shares = applyRecalibration(Object.values(kept.probabilities), recalibration);
  const names = Object.keys(kept.probabilities);
  const probabilities = Object.fromEntries(names.map((name, i) => [name, shares[i] as number]));
  if (kept.type === "choice") return { ...kept, probabilities };
  const score = names.reduce((sum, level) => sum + Number(level) * (probabilities[level] ?? 0), 0);
  return { ...kept, probabilities, score };
}

/** Returns recalibrated probabilities: one for each option or level, or that of yes alone. */
export function applyRecalibration(printed: Numbers, recalibration: Recalibration): number[] {
  const { kind, parameters } = recalibration;
  if (kind === "temperature") return applyTemperature(printed, parameters.temperature);
  return Array.from(printed, (p) =>
    kind === "isotonic" ? applyIsotonic(p, parameters) : applyLogistic(p, parameters),
  );
}

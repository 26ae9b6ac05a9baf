import { type CalibrationArtifact, type Recalibration, recalibrationOf } from "./artifact.ts";
import { type AskedQuestions, formOf, questionHash } from "./kinds.ts";
import { applyRecalibration, recalibrationsOf } from "./recalibration.ts";

/** An answer in the client's form, with its printed probabilities. */
export type PrintedAnswer =
  | { readonly type: string; readonly probability: number }
  | { readonly type: string; readonly probabilities: Readonly<Record<string, number>> };

/** The fields of an evaluation that are read; one of the client fits. */
export interface PrintedEvaluation {
  readonly answers: Readonly<Record<string, PrintedAnswer>>;
  /** The model that answered, or null if the service did not name it. */
  readonly modelId: string | null;
  /** Of choice and score questions; the service computed it from the printed values. */
  readonly confidence?: Readonly<Record<string, number | null>>;
  readonly warnings?: readonly unknown[];
  /** The hash of the questions, if the answers are stored with it. */
  readonly questionHash?: string | null;
}

/** An evaluation whose answers were recalibrated. */
export type CalibratedEvaluation<TEvaluation extends PrintedEvaluation> = Omit<
  TEvaluation,
  "warnings"
> & {
  /** True: the answers differ from those of the service. */
  readonly calibrated: true;
  /** The answers of the service. */
  readonly printed: TEvaluation["answers"];
  readonly warnings: readonly unknown[];
};

/** How to apply an artifact. */
export interface CalibrateOptions {
  /** Whether an artifact for another model or other questions is an error. @default "throw" */
  readonly onMismatch?: "throw" | "warn";
  /** The questions, to compare their hash. @default the evaluation's `questionHash` is compared */
  readonly questions?: AskedQuestions;
}

/** The artifact was made for another model or other questions, so its thresholds may not hold. */
export class CalibrationMismatchError extends Error {
  /** The field that differs. */
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
 * @throws CalibrationMismatchError if another model answered, or the questions differ.
 * @example calibrate(evaluation, parseCalibrationArtifact(text), { questions }).answers.scam.probability
 */
export function calibrate<TEvaluation extends PrintedEvaluation>(
  evaluation: TEvaluation,
  artifact: CalibrationArtifact,
  { onMismatch = "throw", questions }: CalibrateOptions = {},
): CalibratedEvaluation<TEvaluation> {
  const mismatches = findMismatches(evaluation, artifact, questions);
  if (onMismatch === "throw" && mismatches[0] !== undefined) throw mismatches[0];
  const confidence = { ...evaluation.confidence };
  const answers = Object.entries(evaluation.answers).map(([id, answer]) => {
    const recalibration = recalibrationOf(artifact, id);
    if (recalibration === null || !fits(recalibration, answer)) return [id, answer] as const;
    // The service computed it from the printed values.
    delete confidence[id];
    return [id, recalibrate(answer, recalibration)] as const;
  });
  return {
    ...evaluation,
    answers: Object.fromEntries(answers),
    ...(evaluation.confidence === undefined ? {} : { confidence }),
    warnings: [...(evaluation.warnings ?? []), ...mismatches.map(({ message }) => message)],
    calibrated: true,
    printed: evaluation.answers,
  };
}

/** Returns why an evaluation is not one that the artifact was made for; empty if it is. */
export function findMismatches(
  { answers, modelId, questionHash: kept }: PrintedEvaluation,
  artifact: CalibrationArtifact,
  questions: AskedQuestions | undefined,
): CalibrationMismatchError[] {
  const found: CalibrationMismatchError[] = [];
  const { model, questionHash: fitted } = artifact;
  const add = (field: CalibrationMismatchError["field"], message: string) =>
    found.push(new CalibrationMismatchError(field, message));
  if (modelId !== model.id) {
    const who = modelId ?? "a model that the service does not name";
    const made = `The calibration was made for ${model.id}, and ${who} answered.`;
    add("model", `${made} Calibrate again on its answers.`);
  }
  const asked = questions === undefined ? kept : questionHash(questions);
  if (fitted === null) {
    const problem = "The calibration does not name the questions it was made for.";
    add("questionHash", `${problem} Calibrate again with --questions.`);
  } else if (typeof asked === "string" && asked !== fitted) {
    const problem =
      "The calibration was made for other questions than were asked; one changed word is enough.";
    add("questionHash", `${problem} Ask the same words, or calibrate again on answers to these.`);
  }
  for (const [id, answer] of Object.entries(answers)) {
    const recalibration = recalibrationOf(artifact, id);
    const isNamed = !("question" in artifact) || artifact.question !== undefined;
    if (recalibration === null || !isNamed || fits(recalibration, answer)) continue;
    const made = `The calibration of question ${JSON.stringify(id)} is a ${recalibration.kind}`;
    add("answer", `${made}, which a ${answer.type} answer does not take.`);
  }
  return found;
}

function fits({ kind }: Recalibration, { type }: PrintedAnswer): boolean {
  return recalibrationsOf[formOf(type).form].includes(kind);
}

function recalibrate(answer: PrintedAnswer, recalibration: Recalibration): PrintedAnswer {
  const { confidence: _, ...kept } = answer as typeof answer & { confidence?: unknown };
  if ("probability" in kept) {
    const [probability = kept.probability] = applyRecalibration([kept.probability], recalibration);
    return { ...kept, probability };
  }
  const names = Object.keys(kept.probabilities);
  const shares = applyRecalibration(Object.values(kept.probabilities), recalibration);
  const probabilities = Object.fromEntries(names.map((name, i) => [name, shares[i] as number]));
  if (!formOf(kept.type).isOrdered) return { ...kept, probabilities };
  const score = names.reduce((sum, level) => sum + Number(level) * (probabilities[level] ?? 0), 0);
  return { ...kept, probabilities, score } as PrintedAnswer;
}

import {
  type CalibrationArtifact,
  type LockedThreshold,
  type Recalibration,
  recalibrationOf,
} from "./artifact.ts";
import { type AskedQuestions, toForm, questionHash } from "./kinds.ts";
import { stepOfWire } from "./input/step-wire.ts";
import { isAbout } from "./act-keys.ts";
import { jsonHash } from "./math/json-hash.ts";
import { applyRecalibration, recalibrationsOf } from "./recalibration.ts";
import { complement, toHundredths } from "./thresholds/risk-coverage.ts";

/** An answer in the client's form, with its printed probabilities if its kind has any. */
export type PrintedAnswer =
  | { readonly type: string; readonly probability?: never; readonly probabilities?: never }
  | { readonly type: string; readonly probability: number }
  | { readonly type: string; readonly probabilities: Readonly<Record<string, number>> };

/** The fields of an evaluation that are read; one of the client fits. */
export interface PrintedEvaluation {
  readonly answers: Readonly<Record<string, PrintedAnswer>>;
  /** The model that answered, or null if the service did not name it. */
  readonly modelId: string | null;
  /** Of choice and score questions; the service computed it from the printed values. */
  readonly confidence?: Readonly<Record<string, number | null>>;
  /** The hash of the questions, if the answers are stored with it. */
  readonly questionHash?: string | null;
  /** Who answered each question, if several models did. */
  readonly route?:
    | Readonly<Record<string, { readonly step: number; readonly modelId: string | null }>>
    | undefined;
  /** The evaluation of each model that answered, if several did. */
  readonly steps?: readonly { readonly modelId: string | null }[] | undefined;
  /** Of the service; the client adds one of the type `state-cut` if it did not read the whole state. */
  readonly warnings?: readonly unknown[] | undefined;
}

/** An evaluation whose answers were recalibrated. */
export type CalibratedEvaluation<TEvaluation extends PrintedEvaluation> = TEvaluation & {
  /** True: the answers differ from those of the service. */
  readonly calibrated: true;
  /** The answers of the service. */
  readonly printed: TEvaluation["answers"];
};

/** How to apply an artifact. */
export interface CalibrateOptions {
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
  { questions }: CalibrateOptions = {},
): CalibratedEvaluation<TEvaluation> {
  checkMatch(evaluation, artifact, questions);
  const isOwn = (questionId: string) => isOfModel(questionId, evaluation, artifact);
  const confidence = { ...evaluation.confidence };
  const answers = Object.entries(evaluation.answers).map(([questionId, answer]) => {
    const recalibration = recalibrationOf(artifact, questionId);
    const isFitted = recalibration !== null && fits(recalibration, answer) && isOwn(questionId);
    if (!isFitted) return [questionId, answer] as const;
    // The service computed it from the printed values.
    delete confidence[questionId];
    return [questionId, recalibrate(answer, recalibration)] as const;
  });
  return {
    ...evaluation,
    answers: Object.fromEntries(answers),
    ...(evaluation.confidence === undefined ? {} : { confidence }),
    calibrated: true,
    printed: evaluation.answers,
  };
}

/** Returns the name of a model for a sentence. */
export function nameModel(modelId: string | null): string {
  return modelId ?? "a model without a name";
}

/**
 * Returns why a calibration is not for questions, after its name in a sentence; null if it may be for them.
 *
 * @param askedHash - The hash of the asked questions, if it is known.
 */
export function questionProblem(
  { questionHash: fittedHash }: Pick<CalibrationArtifact, "questionHash">,
  askedHash: string | null | undefined,
): string | null {
  if (fittedHash === null) return "has no question hash; calibrate again with --questions";
  const isOther = typeof askedHash === "string" && askedHash !== fittedHash;
  return isOther ? "was made for other questions; ask those, or calibrate again" : null;
}

/** @throws CalibrationMismatchError if the artifact was not made for such an evaluation. */
function checkMatch(
  evaluation: PrintedEvaluation,
  artifact: CalibrationArtifact,
  questions: AskedQuestions | undefined,
): void {
  const { answers, modelId, questionHash: ownHash, steps = [] } = evaluation;
  const { model } = artifact;
  const isOwn = (questionId: string) => isOfModel(questionId, evaluation, artifact);
  // The model may have been asked and its unsure answers replaced by those of another.
  const hasAnswered = steps.some((modelStep) => modelStep.modelId === model.id);
  if (modelId !== model.id && !hasAnswered && !Object.keys(answers).some(isOwn)) {
    const problem = `The calibration was made for ${model.id}, and ${nameModel(modelId)} answered.`;
    throw new CalibrationMismatchError("model", `${problem} Calibrate again on its answers.`);
  }
  const askedHash = questions === undefined ? ownHash : questionHash(questions);
  const problem = questionProblem(artifact, askedHash);
  if (problem !== null) {
    throw new CalibrationMismatchError("questionHash", `The calibration ${problem}.`);
  }
  for (const [questionId, answer] of Object.entries(answers)) {
    const recalibration = recalibrationOf(artifact, questionId);
    const isNamed = !("question" in artifact) || artifact.question !== undefined;
    if (recalibration === null || !isNamed || !isOwn(questionId) || fits(recalibration, answer))
      continue;
    const mismatchText = `${JSON.stringify(questionId)} is ${recalibration.kind}, not for a ${answer.type}`;
    throw new CalibrationMismatchError(
      "answer",
      `The calibration of question ${mismatchText} answer.`,
    );
  }
}

/** An answer that has probabilities. */
type ScoredAnswer = Exclude<
  PrintedAnswer,
  { readonly probability?: never; readonly probabilities?: never }
>;

function isScored(answer: PrintedAnswer): answer is ScoredAnswer {
  return "probability" in answer || "probabilities" in answer;
}

function fits({ kind }: Recalibration, answer: PrintedAnswer): answer is ScoredAnswer {
  return isScored(answer) && recalibrationsOf[toForm(answer.type).form].includes(kind);
}

function recalibrate(scoredAnswer: ScoredAnswer, recalibration: Recalibration): PrintedAnswer {
  const { confidence: _, ...rest } = scoredAnswer as typeof scoredAnswer & {
    confidence?: unknown;
  };
  if ("probability" in rest) {
    const [probability = rest.probability] = applyRecalibration([rest.probability], recalibration);
    return { ...rest, probability };
  }
  const optionNames = Object.keys(rest.probabilities);
  const fittedShares = applyRecalibration(Object.values(rest.probabilities), recalibration);
  const probabilities = Object.fromEntries(
    optionNames.map((optionName, optionIndex) => [optionName, fittedShares[optionIndex] as number]),
  );
  if (!toForm(rest.type).isOrdered) return { ...rest, probabilities };
  const meanLevel = optionNames.reduce(
    (runningSum, levelName) => runningSum + Number(levelName) * (probabilities[levelName] ?? 0),
    0,
  );
  return { ...rest, probabilities, score: meanLevel } as PrintedAnswer;
}

/** What to do about one answer: `yes`, `no`, an option or the index of a level, or no act. */
export type Decision =
  | { readonly act: string; readonly evidence: ActEvidence }
  | { readonly act: null; readonly why: "below-threshold" | "no-promise" };

/** How acts are decided. */
interface DecideOptions {
  /** The questions, to compare their hash. @default the evaluation's `questionHash` is compared */
  readonly questions?: AskedQuestions;
  /** The id of the record: a promise about exactly some records permits an act on those only. @default no such act */
  readonly id?: string;
  /** The state of the record, which such a promise names if a journal kept it. @default no act on a named state */
  readonly state?: unknown;
}

/**
 * Returns for each answered question the act that the artifact promises, or why there is none. It compares
 * the printed answers, also of an evaluation that `calibrate` returned, in hundredths as the promise did.
 *
 * @throws CalibrationMismatchError if another model answered, the questions differ or are not known.
 * @example decide(evaluation, artifact, { questions }).refund // { act: "no", evidence: { printed: 0.99, … } }
 */
export function decide(
  evaluation: PrintedEvaluation & { readonly printed?: PrintedEvaluation["answers"] },
  artifact: CalibrationArtifact,
  { questions, id, state }: DecideOptions = {},
): Record<string, Decision> {
  const answers = evaluation.printed ?? evaluation.answers;
  const isOwn = (questionId: string) => isOfModel(questionId, evaluation, artifact);
  checkMatch({ ...evaluation, answers }, artifact, questions);
  if (questions === undefined && typeof evaluation.questionHash !== "string") {
    const problem = "The evaluation does not name its questions; pass questions.";
    throw new CalibrationMismatchError("questionHash", problem);
  }
  // A promise is about states that were read as a whole.
  const isStateCut =
    evaluation.warnings?.some((warning) => Object(warning).type === "state-cut") === true;
  const decisions = Object.entries(answers).map(([questionId, answer]): [string, Decision] => {
    const ownThresholds = artifact.thresholds.filter(({ question }) => question === questionId);
    const hasPromise = ownThresholds.length > 0 && isOwn(questionId) && !isStateCut;
    if (!hasPromise) return [questionId, { act: null, why: "no-promise" }];
    for (const threshold of ownThresholds) {
      const { act, sureness } = toPrintedAct(answer, threshold);
      if (toHundredths(sureness) < toHundredths(threshold.threshold)) continue;
      const isPromised = isAbout(threshold, {
        id,
        state,
        act,
        sureness,
      });
      if (!isPromised) return [questionId, { act: null, why: "no-promise" }];
      return [questionId, { act, evidence: toEvidence(artifact, threshold, sureness) }];
    }
    return [questionId, { act: null, why: "below-threshold" }];
  });
  return Object.fromEntries(decisions);
}

/** Whether the artifact's model gave an answer; of several with one name, the first is known to be unless its wire has a step. */
function isOfModel(
  questionId: string,
  { modelId, route, steps = [] }: PrintedEvaluation,
  { model }: CalibrationArtifact,
): boolean {
  const ownRoute =
    route !== undefined && Object.hasOwn(route, questionId) ? route[questionId] : undefined;
  if (ownRoute === undefined) return modelId === model.id;
  if (ownRoute.modelId !== model.id) return false;
  const namedStep = steps.findIndex((modelStep) => modelStep.modelId === model.id) + 1;
  const stepNumber = stepOfWire(model.wire) ?? namedStep;
  return stepNumber === 0 ? model.id !== null || ownRoute.step === 1 : ownRoute.step === stepNumber;
}

function toPrintedAct(answer: PrintedAnswer, { question, action }: LockedThreshold) {
  const isYesOrNo = action !== "top";
  if (!isScored(answer) || isYesOrNo !== (toForm(answer.type).form === "probability")) {
    const promiseText = `The calibration promises "${action}" for question ${JSON.stringify(question)}`;
    throw new CalibrationMismatchError(
      "answer",
      `${promiseText}, which a ${answer.type} answer is not.`,
    );
  }
  if ("probability" in answer) {
    const { probability } = answer;
    return { act: action, sureness: action === "yes" ? probability : complement(probability) };
  }
  // The first of equals, as in the promise.
  let [topOption, topProbability] = ["", -1];
  for (const [optionName, probability] of Object.entries(answer.probabilities)) {
    if (probability > topProbability) [topOption, topProbability] = [optionName, probability];
  }
  return { act: topOption, sureness: topProbability };
}

function toEvidence(
  artifact: CalibrationArtifact,
  { threshold, maxRisk, confidence, level = 1 - confidence, n, wrong, these }: LockedThreshold,
  sureness: number,
) {
  return {
    /** See {@link artifactHash}. */
    artifact: artifactHash(artifact),
    /** The first 16 characters of the hash of the questions. */
    questions: (artifact.questionHash ?? "").slice(0, 16),
    model: artifact.model.id ?? "",
    /** How sure the printed answer is of the act, 0..1: p for yes, 1 − p for no, else the largest probability. */
    printed: Number(sureness.toFixed(artifact.rounding.probabilityDecimals)),
    /** The act is promised at this printed value and above. */
    threshold,
    /** The largest share of acts that may be wrong. */
    maxRisk,
    /** The confidence that all promises of the artifact share. */
    confidence,
    /** The part of 1 − confidence that this threshold was tested at. */
    level: Number(level.toPrecision(4)),
    /** Labels at the threshold and above, and how many of them were wrong. */
    n,
    wrong,
    /** Of a promise about exactly some records: how many have no label. */
    ...(these && { unlabelled: these.unlabelled }),
  };
}

/** The promise that an act is based on. */
export type ActEvidence = Readonly<ReturnType<typeof toEvidence>>;

const artifactHashes = new WeakMap<CalibrationArtifact, string>();

/** Returns the first 16 hex digits of the SHA-256 of an artifact's JSON with sorted keys. */
export function artifactHash(artifact: CalibrationArtifact): string {
  const knownHash = artifactHashes.get(artifact) ?? jsonHash(artifact);
  artifactHashes.set(artifact, knownHash);
  return knownHash;
}

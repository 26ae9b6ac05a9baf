import type { CalibrationArtifact, LockedThreshold } from "./artifact.ts";
import {
  CalibrationMismatchError,
  findMismatches,
  type PrintedAnswer,
  type PrintedEvaluation,
} from "./calibrate.ts";
import { type AskedQuestions, formOf, questionHash } from "./kinds.ts";
import { jsonHash } from "./math/json-hash.ts";
import { complement, toHundredths } from "./thresholds/risk-coverage.ts";

/** What to do about one answer: `yes`, `no`, an option or the index of a level, or no act. */
export type Decision =
  | { readonly act: string; readonly evidence: ActEvidence }
  | { readonly act: null; readonly why: "below-threshold" | "no-promise" };

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
  { questions }: { readonly questions?: AskedQuestions } = {},
): Record<string, Decision> {
  const answers = evaluation.printed ?? evaluation.answers;
  const [mismatch] = findMismatches({ ...evaluation, answers }, artifact, questions);
  if (mismatch !== undefined) throw mismatch;
  if (questions === undefined && typeof evaluation.questionHash !== "string") {
    const problem = "The evaluation does not name its questions.";
    throw new CalibrationMismatchError("questionHash", `${problem} Give them as questions.`);
  }
  const decisions = Object.entries(answers).map(([id, answer]): [string, Decision] => {
    const locked = artifact.thresholds.filter(({ question }) => question === id);
    if (locked.length === 0) return [id, { act: null, why: "no-promise" }];
    for (const threshold of locked) {
      const { act, sureness } = actOf(answer, threshold);
      if (toHundredths(sureness) < toHundredths(threshold.threshold)) continue;
      return [id, { act, evidence: toEvidence(artifact, threshold, sureness) }];
    }
    return [id, { act: null, why: "below-threshold" }];
  });
  return Object.fromEntries(decisions);
}

function actOf(answer: PrintedAnswer, { question, action }: LockedThreshold) {
  const isYesOrNo = formOf(answer.type).form === "probability";
  if (isYesOrNo === (action === "top")) {
    const made = `The calibration promises "${action}" for question ${JSON.stringify(question)}`;
    throw new CalibrationMismatchError("answer", `${made}, which a ${answer.type} answer is not.`);
  }
  if ("probability" in answer) {
    const { probability } = answer;
    return { act: action, sureness: action === "yes" ? probability : complement(probability) };
  }
  // The first of equals, as in the promise.
  let [act, sureness] = ["", -1];
  for (const [name, probability] of Object.entries(answer.probabilities)) {
    if (probability > sureness) [act, sureness] = [name, probability];
  }
  return { act, sureness };
}

function toEvidence(
  artifact: CalibrationArtifact,
  { threshold, maxRisk, confidence, level = 1 - confidence, n, wrong }: LockedThreshold,
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
  };
}

/** The promise that an act is based on. */
export type ActEvidence = Readonly<ReturnType<typeof toEvidence>>;

const hashes = new WeakMap<CalibrationArtifact, string>();

/** Returns the first 16 hex digits of the SHA-256 of an artifact's JSON with sorted keys. */
export function artifactHash(artifact: CalibrationArtifact): string {
  const hash = hashes.get(artifact) ?? jsonHash(artifact);
  hashes.set(artifact, hash);
  return hash;
}

/** An evaluation of the client, which names the service too. */
type AnsweredEvaluation = PrintedEvaluation & {
  readonly printed?: PrintedEvaluation["answers"];
  readonly transport: string;
  readonly rounding: object;
  readonly headers?: object;
};

/**
 * Returns an evaluation as one line of a file of answers, with the hash of its questions: for
 * `AnswerTable`, {@link decide} and the commands that read answers.
 *
 * @example appendFileSync("answers.ndjson", `${JSON.stringify(toAnswerRecord(id, evaluation, questions))}\n`)
 */
export function toAnswerRecord<TEvaluation extends AnsweredEvaluation>(
  id: string,
  { answers, printed = answers, modelId, transport, rounding, headers = {} }: TEvaluation,
  questions: AskedQuestions,
) {
  const wire = "x-evaluator-emulator" in headers ? `emulator ${transport}` : transport;
  return {
    id,
    answers: printed as TEvaluation["answers"],
    modelId,
    wire,
    questionHash: questionHash(questions),
    rounding: rounding as TEvaluation["rounding"],
  };
}

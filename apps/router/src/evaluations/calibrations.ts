import {
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
  decide,
  type Decision,
  parseCalibrationArtifact,
  questionProblem,
  questionHash,
} from "evaluator-calibration";
import type { Answer, AnswerRoute, Evaluation, Questions } from "evaluator-client";
import { printAtLeast, printAtMost, printThreshold, readParsedFile } from "evaluator-kit";
import type { Answered } from "./evaluation-form.ts";

/** Calibrations by the hash of their questions; several of one hash are for different models. */
export type Calibrations = ReadonlyMap<string, readonly CalibrationArtifact[]>;

/** Answers with corrected probabilities, and their promise. */
interface Corrected extends Pick<Answered, "answers" | "confidence" | "printed"> {
  /** The text of the header; null without calibrations. */
  readonly promise: string | null;
}

/** Reads the files of ROUTER_DECISION_CALIBRATION. @throws CliError for a file that does not name its questions */
export async function readCalibrations(paths: readonly string[]): Promise<Calibrations> {
  const artifacts = await Promise.all(
    paths.map((artifactPath) =>
      readParsedFile(artifactPath, {
        fileName: `ROUTER_DECISION_CALIBRATION=${JSON.stringify(artifactPath)}`,
        parse(artifactText) {
          const artifact = parseCalibrationArtifact(artifactText);
          const problem = questionProblem(artifact, null);
          if (problem !== null) throw new Error(problem);
          return artifact;
        },
        advice: "Name calibration.json files that evaluator-cli calibrate wrote.",
      }),
    ),
  );
  return Map.groupBy(artifacts, ({ questionHash: hash }) => hash ?? "");
}

/** Corrects answers by the calibration of all questions together, else of each one alone. */
export function correct(
  evaluation: Evaluation,
  questions: Questions,
  calibrations: Calibrations,
): Corrected {
  const { answers, confidence } = evaluation;
  if (calibrations.size === 0) return { answers, confidence, printed: null, promise: null };
  const questionIds = Object.keys(questions);
  const isWhole = calibrations.has(questionHash(questions));
  const idGroups = isWhole ? byService(questionIds, evaluation) : questionIds.map((id) => [id]);
  const correctedParts = idGroups.map((questionPart) => {
    const askedQuestions = isWhole ? questions : pick(questions, questionPart);
    return correctPart(questionPart, { evaluation, askedQuestions, calibrations });
  });
  const all = Object.fromEntries(correctedParts.flatMap((part) => Object.entries(part.answers)));
  const isChanged = questionIds.some((questionId) => all[questionId] !== answers[questionId]);
  const promises = new Map(correctedParts.flatMap((correctedPart) => correctedPart.promises));
  const promiseTexts = questionIds.map((questionId) => promises.get(questionId) ?? "");
  return {
    answers: all,
    confidence: Object.assign(
      {},
      ...correctedParts.map((correctedPart) => correctedPart.confidence),
    ) as Answered["confidence"],
    printed: isChanged ? answers : null,
    promise:
      questionIds.length === 1
        ? (promiseTexts[0] ?? "")
        : promiseTexts.map((one, at) => `${toName(questionIds[at], at)}: ${one}`).join("; "),
  };
}

interface Parts {
  readonly evaluation: Evaluation;
  /** The questions that a calibration is looked up for. */
  readonly askedQuestions: Questions;
  readonly calibrations: Calibrations;
}

/** Returns the ids of the questions that each service answered. */
function byService(questionIds: readonly string[], evaluation: Evaluation): string[][] {
  return [...Map.groupBy(questionIds, (id) => findRoute(id, evaluation)?.step).values()];
}

function findRoute(questionId: string, { route }: Evaluation): AnswerRoute | undefined {
  const routes: Readonly<Record<string, AnswerRoute>> = route ?? {};
  return Object.hasOwn(routes, questionId) ? routes[questionId] : undefined;
}

function correctPart(ids: readonly string[], { evaluation, askedQuestions, calibrations }: Parts) {
  const { modelId } = findRoute(ids[0] ?? "", evaluation) ?? evaluation;
  const printedEvaluation = {
    answers: pick<Answer>(evaluation.answers, ids),
    confidence: pick<number | null>(evaluation.confidence, ids),
    modelId,
    warnings: evaluation.warnings,
    // Two services may name one model.
    route: evaluation.route,
    steps: evaluation.steps,
  };
  const listPromises = (describePromise: (id: string) => string) =>
    ids.map((questionId) => [questionId, describePromise(questionId)] as const);
  const unchanged = (reason: string) => ({
    ...printedEvaluation,
    promises: listPromises(() => `none, ${reason}`),
  });
  const knownArtifacts = calibrations.get(questionHash(askedQuestions));
  if (knownArtifacts === undefined) return unchanged("no calibration is of this question");
  const modelArtifacts = knownArtifacts.filter(({ model }) => model.id === modelId);
  const decideOptions = { questions: askedQuestions };
  try {
    const decisions = modelArtifacts.map((one) => ({
      one,
      acts: decide(printedEvaluation, one, decideOptions),
    }));
    const bestDecision =
      decisions.find(({ acts }) => Object.values(acts).some(hasPromise)) ?? decisions[0];
    if (bestDecision === undefined) return unchanged("the calibration is of another model");
    const { one: artifact, acts } = bestDecision;
    const { answers, confidence } = calibrate(printedEvaluation, artifact, decideOptions);
    return { answers, confidence, promises: listPromises((id) => describeAct(acts[id])) };
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    return unchanged("the calibration is of another kind of answer");
  }
}

function hasPromise(decision: Decision): boolean {
  return decision.act !== null || decision.why !== "no-promise";
}

/** A header takes printable ASCII only, and an option's name may be any text. */
function describeAct(decision: Decision | undefined): string {
  if (decision === undefined || decision.act === null)
    return `none, ${decision?.why ?? "no-promise"}`;
  const { threshold, maxRisk, confidence } = decision.evidence;
  const printedAct = encodeURI(decision.act.slice(0, 64).toWellFormed());
  return `act ${printedAct} at ${printThreshold(threshold)}: at most ${printAtMost(maxRisk)} wrong, ${printAtLeast(confidence)}`;
}

function toName(id: string | undefined, questionIndex: number): string {
  return id !== undefined && /^[\w.-]{1,64}$/.test(id) ? id : `question ${questionIndex + 1}`;
}

function pick<TValue>(record: Readonly<Record<string, TValue>>, ids: readonly string[]) {
  const pickedEntries = ids.filter((id) => Object.hasOwn(record, id)).map((id) => [id, record[id]]);
  return Object.fromEntries(pickedEntries) as Record<string, TValue>;
}

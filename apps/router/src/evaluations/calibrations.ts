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
    paths.map((path) =>
      readParsedFile(path, {
        fileName: `ROUTER_DECISION_CALIBRATION=${JSON.stringify(path)}`,
        parse(text) {
          const artifact = parseCalibrationArtifact(text);
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
  const ids = Object.keys(questions);
  const isWhole = calibrations.has(questionHash(questions));
  const parts = isWhole ? byService(ids, evaluation) : ids.map((id) => [id]);
  const correctedParts = parts.map((part) => {
    const askedQuestions = isWhole ? questions : pick(questions, part);
    return correctPart(part, { evaluation, askedQuestions, calibrations });
  });
  const all = Object.fromEntries(correctedParts.flatMap((part) => Object.entries(part.answers)));
  const isChanged = ids.some((id) => all[id] !== answers[id]);
  const promises = new Map(correctedParts.flatMap((part) => part.promises));
  const promiseTexts = ids.map((id) => promises.get(id) ?? "");
  return {
    answers: all,
    confidence: Object.assign(
      {},
      ...correctedParts.map((part) => part.confidence),
    ) as Answered["confidence"],
    printed: isChanged ? answers : null,
    promise:
      ids.length === 1
        ? (promiseTexts[0] ?? "")
        : promiseTexts.map((one, at) => `${toName(ids[at], at)}: ${one}`).join("; "),
  };
}

interface Parts {
  readonly evaluation: Evaluation;
  /** The questions that a calibration is looked up for. */
  readonly askedQuestions: Questions;
  readonly calibrations: Calibrations;
}

/** Returns the ids of the questions that each service answered. */
function byService(ids: readonly string[], evaluation: Evaluation): string[][] {
  return [...Map.groupBy(ids, (id) => findRoute(id, evaluation)?.step).values()];
}

function findRoute(id: string, { route }: Evaluation): AnswerRoute | undefined {
  const routes: Readonly<Record<string, AnswerRoute>> = route ?? {};
  return Object.hasOwn(routes, id) ? routes[id] : undefined;
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
  const listPromises = (describe: (id: string) => string) =>
    ids.map((id) => [id, describe(id)] as const);
  const unchanged = (why: string) => ({
    ...printedEvaluation,
    promises: listPromises(() => `none, ${why}`),
  });
  const knownArtifacts = calibrations.get(questionHash(askedQuestions));
  if (knownArtifacts === undefined) return unchanged("no calibration is of this question");
  const ofModel = knownArtifacts.filter(({ model }) => model.id === modelId);
  const options = { questions: askedQuestions };
  try {
    const decisions = ofModel.map((one) => ({
      one,
      acts: decide(printedEvaluation, one, options),
    }));
    const bestDecision =
      decisions.find(({ acts }) => Object.values(acts).some(hasPromise)) ?? decisions[0];
    if (bestDecision === undefined) return unchanged("the calibration is of another model");
    const { one: artifact, acts } = bestDecision;
    const { answers, confidence } = calibrate(printedEvaluation, artifact, options);
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
  const act = encodeURI(decision.act.slice(0, 64).toWellFormed());
  return `act ${act} at ${printThreshold(threshold)}: at most ${printAtMost(maxRisk)} wrong, ${printAtLeast(confidence)}`;
}

function toName(id: string | undefined, at: number): string {
  return id !== undefined && /^[\w.-]{1,64}$/.test(id) ? id : `question ${at + 1}`;
}

function pick<TValue>(record: Readonly<Record<string, TValue>>, ids: readonly string[]) {
  const entries = ids.filter((id) => Object.hasOwn(record, id)).map((id) => [id, record[id]]);
  return Object.fromEntries(entries) as Record<string, TValue>;
}

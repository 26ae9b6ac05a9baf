import { questionHash } from "evaluator-calibration";
import type { Question, Questions } from "evaluator-client";
import { type Bound, boundFits, type Bounds } from "evaluator-client/escalate";
import type { UnsureWord } from "../config/router-config.ts";
import type { Calibrations } from "./calibrations.ts";

interface FirstService {
  readonly model: string;
  /** When its answers are unsure. */
  readonly unsure: readonly UnsureWord[];
}

/** Returns when a service's answers to questions are unsure; a bound of one question goes before one of all. */
export function boundsFor(
  firstService: FirstService,
  questions: Questions,
  calibrations: Calibrations,
): Bounds {
  const boundEntries = Object.entries(questions).map(([id, question]) => {
    const promiseBounds = toArtifact(firstService, { id, question, questions }, calibrations);
    const findBound = (questionName: string | null) =>
      firstService.unsure
        .filter((unsureWord) => unsureWord.id === questionName)
        .flatMap(({ bound }) => (bound === "calibration" ? promiseBounds : [bound]))
        .find((statedBound) => boundFits(statedBound, id, question));
    return [id, findBound(id) ?? findBound(null)] as const;
  });
  return Object.fromEntries(boundEntries.filter(([, bound]) => bound !== undefined));
}

interface AskedQuestion {
  readonly id: string;
  readonly question: Question;
  /** All of the call. */
  readonly questions: Questions;
}

/** Returns the promise of the calibration of all questions together, else of the question alone. */
function toArtifact(
  firstService: FirstService,
  { id, question, questions }: AskedQuestion,
  calibrations: Calibrations,
): Bound[] {
  const setHash = questionHash(questions);
  const aloneArtifacts = calibrations.get(questionHash({ [id]: question }));
  const artifacts = calibrations.get(setHash) ?? aloneArtifacts ?? [];
  const artifact = artifacts.find(({ model }) => model.id === firstService.model) ?? artifacts[0];
  // The question was compared here, alone or among all.
  return artifact === undefined ? [] : [{ promise: { ...artifact, questionHash: setHash } }];
}

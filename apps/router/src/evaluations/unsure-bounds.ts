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
  service: FirstService,
  questions: Questions,
  calibrations: Calibrations,
): Bounds {
  const own = Object.entries(questions).map(([id, question]) => {
    const promise = toArtifact(service, { id, question, questions }, calibrations);
    const of = (name: string | null) =>
      service.unsure
        .filter((word) => word.id === name)
        .flatMap(({ bound }) => (bound === "calibration" ? promise : [bound]))
        .find((bound) => boundFits(bound, id, question));
    return [id, of(id) ?? of(null)] as const;
  });
  return Object.fromEntries(own.filter(([, bound]) => bound !== undefined));
}

interface AskedQuestion {
  readonly id: string;
  readonly question: Question;
  /** All of the call. */
  readonly questions: Questions;
}

/** Returns the promise of the calibration of all questions together, else of the question alone. */
function toArtifact(
  service: FirstService,
  { id, question, questions }: AskedQuestion,
  calibrations: Calibrations,
): Bound[] {
  const hash = questionHash(questions);
  const alone = calibrations.get(questionHash({ [id]: question }));
  const artifacts = calibrations.get(hash) ?? alone ?? [];
  const artifact = artifacts.find(({ model }) => model.id === service.model) ?? artifacts[0];
  // The question was compared here, alone or among all.
  return artifact === undefined ? [] : [{ promise: { ...artifact, questionHash: hash } }];
}

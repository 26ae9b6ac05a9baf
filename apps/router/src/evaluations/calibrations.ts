import {
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
  decide,
  type Decision,
  parseCalibrationArtifact,
  questionHash,
} from "evaluator-calibration";
import type { Answer, Evaluation, Questions } from "evaluator-client";
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
        name: `ROUTER_DECISION_CALIBRATION=${JSON.stringify(path)}`,
        parse(text) {
          const artifact = parseCalibrationArtifact(text);
          if (artifact.questionHash !== null) return artifact;
          throw new Error("does not name its questions");
        },
        advice: "Name calibration.json files that evaluator-cli calibrate wrote with --questions.",
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
  const parts = isWhole ? [ids] : ids.map((id) => [id]);
  const corrected = parts.map((part) => correctPart(part, { evaluation, questions, calibrations }));
  const all = Object.fromEntries(corrected.flatMap((part) => Object.entries(part.answers)));
  const isChanged = ids.some((id) => all[id] !== answers[id]);
  const said = corrected.flatMap((part) => part.promises);
  return {
    answers: all,
    confidence: Object.assign(
      {},
      ...corrected.map((part) => part.confidence),
    ) as Answered["confidence"],
    printed: isChanged ? answers : null,
    promise:
      ids.length === 1
        ? (said[0] ?? "")
        : said.map((one, at) => `${nameOf(ids[at], at)}: ${one}`).join("; "),
  };
}

interface Parts {
  readonly evaluation: Evaluation;
  readonly questions: Questions;
  readonly calibrations: Calibrations;
}

function correctPart(ids: readonly string[], { evaluation, questions, calibrations }: Parts) {
  const asked = pick(questions, ids);
  const printed = {
    answers: pick<Answer>(evaluation.answers, ids),
    confidence: pick<number | null>(evaluation.confidence, ids),
    modelId: evaluation.modelId,
  };
  const unchanged = (why: string) => ({ ...printed, promises: ids.map(() => `none, ${why}`) });
  const known = calibrations.get(questionHash(asked));
  if (known === undefined) return unchanged("no calibration is of this question");
  const artifact = known.find(({ model }) => model.id === evaluation.modelId);
  if (artifact === undefined) return unchanged("the calibration is of another model");
  try {
    const { answers, confidence } = calibrate(printed, artifact, { questions: asked });
    const acts = decide(printed, artifact, { questions: asked });
    return { answers, confidence, promises: ids.map((id) => describeAct(acts[id])) };
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    return unchanged("the calibration is of another kind of answer");
  }
}

/** A header takes printable ASCII only, and an option's name may be any text. */
function describeAct(decision: Decision | undefined): string {
  if (decision === undefined || decision.act === null)
    return `none, ${decision?.why ?? "no-promise"}`;
  const { threshold, maxRisk, confidence } = decision.evidence;
  const act = encodeURI(decision.act.slice(0, 64).toWellFormed());
  return `act ${act} at ${printThreshold(threshold)}: at most ${printAtMost(maxRisk)} wrong, ${printAtLeast(confidence)}`;
}

function nameOf(id: string | undefined, at: number): string {
  return id !== undefined && /^[\w.-]{1,64}$/.test(id) ? id : `question ${at + 1}`;
}

function pick<TValue>(record: Readonly<Record<string, TValue>>, ids: readonly string[]) {
  const entries = ids.filter((id) => Object.hasOwn(record, id)).map((id) => [id, record[id]]);
  return Object.fromEntries(entries) as Record<string, TValue>;
}

import * as z from "zod/mini";
import {
  checkDistribution,
  distributionOver,
  frozenCopy,
  probability,
  toRecord,
  roundingError,
  TOLERANCE,
} from "../json.ts";
import { type Wording, wordingSchema, wordingText } from "../wording.ts";
import type { NonEmpty, KindOf } from "./kind.ts";

/** A question that places the state on ordered levels; the position in the list is the level index. */
export const scoreQuestionSchema = /* @__PURE__ */ (() =>
  z.strictObject({
    type: z.literal("score"),
    instructions: wordingSchema(),
    criteria: z.array(wordingSchema()),
  }))();
/** Level sentences of a score question, from index 0 up. The vendor's API refuses null here. */
export type ScoreLevels = readonly Wording[];

/** See {@link scoreQuestionSchema}. */
export interface ScoreQuestion<TLevels extends ScoreLevels = ScoreLevels> {
  readonly type: "score";
  /** The question. */
  readonly instructions: Wording;
  /** Level sentences from index 0 up, at least one. */
  readonly criteria: TLevels;
}

/** The answer to a score question: the weighted mean of the level indexes, and their distribution. */
export const scoreAnswerSchema = /* @__PURE__ */ (() =>
  z.looseObject({
    type: z.literal("score"),
    score: z.number(),
    probabilities: toRecord(probability()),
  }))();
/** See {@link scoreAnswerSchema}. */
export interface ScoreAnswer<TLevelIndex extends string = string> {
  type: "score";
  /** Mean level index, from 0 to the last level's index; between two levels it is a mix of them. */
  score: number;
  /** Level index (as a string) to probability, 0..1, rounded by the service. */
  probabilities: Record<TLevelIndex, number>;
}

/** The level indexes of a list of levels as strings: `"0" | "1"` for two levels written in place. */
export type LevelIndex<TLevels extends ScoreLevels> = number extends TLevels["length"]
  ? string
  : Extract<keyof TLevels, `${number}`>;

/**
 * Builds a question that places the state on ordered levels, index 0 first.
 * @example
 * ```ts
 * score("How important is it?", ["ignore: nothing to do", "high: reply within days"]);
 * ```
 */
export function score<const TLevels extends ScoreLevels>(
  instructions: Wording,
  criteria: TLevels & NonEmpty<TLevels>,
): ScoreQuestion<TLevels> {
  return frozenCopy({ type: "score", instructions, criteria });
}

const notTheMean = {
  rule: "score-mean",
  what: "has a score that is not the weighted mean of its levels",
} as const;

/** The kind `score`. */
export const scoreKind = {
  questionSchema: scoreQuestionSchema,
  answerSchema: scoreAnswerSchema,
  limit: { unit: "level", most: 10, option: "maxLevels" },
  hasConfidence: true,
  keys: ({ criteria }) => Object.keys(criteria),
  check(keys, answer, rounding) {
    const score = answer["score"];
    const last = keys.length - 1;
    if (typeof score !== "number" || !(score >= 0 && score <= last)) {
      return { rule: "score-range" as const, what: `has a score outside of 0 to ${last}` };
    }
    const error = roundingError(rounding.probabilityDecimals);
    const highest = checkDistribution(keys, answer["probabilities"], rounding);
    if (typeof highest !== "number") return highest;
    // Levels are read by their number, which is several times as fast as by its text.
    const printedLevels = answer["probabilities"] as Readonly<Record<number, number>>;
    const levels = keys.length;
    // A part of the sum that is nowhere may belong to any level.
    const { scoreDecimals, sumError = 0 } = rounding;
    const bound = roundingError(scoreDecimals) + sumError * last + TOLERANCE;
    const least = meanFilled({ isFromTop: false, levels, printed: printedLevels, error });
    const most = meanFilled({ isFromTop: true, levels, printed: printedLevels, error });
    return Math.max(least - score, score - most) > bound ? notTheMean : null;
  },
  values({ criteria }) {
    const keys = Object.keys(criteria);
    return [
      { name: "score", form: "number", most: keys.length - 1, of: (one) => one.score },
      distributionOver<ScoreAnswer>(keys, true),
    ];
  },
  truths: ({ criteria }) =>
    criteria.map((level, index) => ({
      truth: index,
      name: String(index),
      description: wordingText(level),
    })),
} satisfies KindOf<ScoreQuestion, ScoreAnswer>;

interface Filling {
  readonly isFromTop: boolean;
  readonly levels: number;
  readonly printed: Readonly<Record<number, number>>;
  readonly error: number;
}

/** Returns an extreme mean of the distributions that print so: the rest of 1 fills levels from the bottom or the top. */
// It allocates no lists, which were a tenth of the allocations of a call (benchmark: calls).
function meanFilled({ isFromTop, levels, printed: printedLevels, error }: Filling): number {
  let remainingShare = 1;
  let mean = 0;
  for (let level = 0; level < levels; level += 1) {
    const least = Math.max(0, (printedLevels[level] as number) - error);
    remainingShare -= least;
    mean += level * least;
  }
  for (let step = 0; step < levels && remainingShare > 0; step += 1) {
    const level = isFromTop ? levels - 1 - step : step;
    const value = printedLevels[level] as number;
    const room = Math.min(1, value + error) - Math.max(0, value - error);
    const addedShare = Math.min(remainingShare, room);
    remainingShare -= addedShare;
    mean += level * addedShare;
  }
  return mean;
}

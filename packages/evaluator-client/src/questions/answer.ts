import * as z from "zod/mini";
import type { BooleanQuestion, ChoiceQuestion, Question, ScoreQuestion } from "./question.ts";
import { recordOf } from "./json.ts";

const probabilitySchema = z.number().check(z.minimum(0), z.maximum(1));

/** The answer to a choice question: the picked option and a probability for every option. */
export const choiceAnswerSchema = z.looseObject({
  type: z.literal("choice"),
  choice: z.string(),
  probabilities: recordOf(probabilitySchema),
});
/** See {@link choiceAnswerSchema}. */
export interface ChoiceAnswer<TOption extends string = string> {
  type: "choice";
  /** The picked option's name. */
  choice: TOption;
  /** Option name to probability, 0..1, rounded by the service. */
  probabilities: Record<TOption, number>;
}

/** The answer to a score question: the weighted mean of the level indexes, and their distribution. */
export const scoreAnswerSchema = z.looseObject({
  type: z.literal("score"),
  score: z.number(),
  probabilities: recordOf(probabilitySchema),
});
/** See {@link scoreAnswerSchema}. */
export interface ScoreAnswer<TLevelIndex extends string = string> {
  type: "score";
  /** Mean level index, from 0 to the last level's index; between two levels it is a mix of them. */
  score: number;
  /** Level index (as a string) to probability, 0..1, rounded by the service. */
  probabilities: Record<TLevelIndex, number>;
}

/** The answer to a boolean question: the probability of yes. */
export const booleanAnswerSchema = z.looseObject({
  type: z.literal("boolean"),
  probability: probabilitySchema,
});
/** See {@link booleanAnswerSchema}. */
export interface BooleanAnswer {
  type: "boolean";
  /** Probability of yes, 0..1. */
  probability: number;
}

/** One answer in the gateway's form (contract section 2.4). */
export const answerSchema = z.discriminatedUnion("type", [
  choiceAnswerSchema,
  scoreAnswerSchema,
  booleanAnswerSchema,
]);
/** One answer in the gateway's form (contract section 2.4). */
export type Answer = ChoiceAnswer | ScoreAnswer | BooleanAnswer;

/** The level indexes of a list of levels as strings: `"0" | "1"` for two levels written in place. */
export type LevelIndex<TLevels extends readonly string[]> = number extends TLevels["length"]
  ? string
  : Extract<keyof TLevels, `${number}`>;

/** The answer that belongs to one question. */
export type AnswerFor<TQuestion extends Question> =
  TQuestion extends ChoiceQuestion<infer TOption>
    ? ChoiceAnswer<TOption>
    : TQuestion extends ScoreQuestion<infer TLevels>
      ? ScoreAnswer<LevelIndex<TLevels>>
      : BooleanAnswer;

/** One answer for each question, under the same id. */
export type AnswersFor<TQuestions extends Readonly<Record<string, Question>>> = {
  -readonly [TId in keyof TQuestions]: AnswerFor<TQuestions[TId]>;
};

/** Confidence, 0..1 or null when the service gave none, for choice and score questions only. */
export type ConfidenceFor<TQuestions extends Readonly<Record<string, Question>>> = {
  -readonly [TId in keyof TQuestions as TQuestions[TId] extends BooleanQuestion ? never : TId]:
    | number
    | null;
};

/** Decimal places the service rounds to. */
export const roundingSchema = z.looseObject({
  probabilityDecimals: z.int().check(z.minimum(0), z.maximum(15)),
  scoreDecimals: z.int().check(z.minimum(0), z.maximum(15)),
});
/** Decimal places the service rounds to (contract: 2 and 2). */
export interface Rounding {
  probabilityDecimals: number;
  scoreDecimals: number;
}

import * as z from "zod";
import { recordOf } from "./record-of.ts";

const probabilitySchema = z.number().min(0).max(1);

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

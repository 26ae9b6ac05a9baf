import type { BooleanAnswer, ChoiceAnswer, ScoreAnswer } from "./answer.ts";
import type { BooleanQuestion, ChoiceQuestion, Question, ScoreQuestion } from "./question.ts";

/** The level indexes of a list of levels as strings: `"0" | "1"` for two levels written in place. */
type LevelIndex<TLevels extends readonly string[]> = number extends TLevels["length"]
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

import * as z from "zod/mini";
import { type BooleanAnswer, booleanKind } from "./kinds/boolean.ts";
import { type BoxAnswer, boxKind } from "./kinds/box.ts";
import { type ChoiceAnswer, choiceKind, type ChoiceQuestion } from "./kinds/choice.ts";
import type { KindOf, Truth, ValueFieldOf } from "./kinds/kind.ts";
import { type LevelIndex, type ScoreAnswer, scoreKind, type ScoreQuestion } from "./kinds/score.ts";

export { boolean } from "./kinds/boolean.ts";
export { box } from "./kinds/box.ts";
export { choice } from "./kinds/choice.ts";
export { score } from "./kinds/score.ts";

const kinds = { choice: choiceKind, score: scoreKind, boolean: booleanKind, box: boxKind };

/** The answer to a question of each kind. */
export interface AnswersByKind<TQuestion> {
  choice: TQuestion extends ChoiceQuestion<infer TOption> ? ChoiceAnswer<TOption> : never;
  score: TQuestion extends ScoreQuestion<infer TLevels> ? ScoreAnswer<LevelIndex<TLevels>> : never;
  boolean: BooleanAnswer;
  box: BoxAnswer;
}

/** The question kinds, each with its own types. */
export type Kinds = typeof kinds;
/** The name of a question kind, which is the `type` of its questions and answers. */
export type KindName = keyof Kinds;
/** One typed question (contract section 2.2). */
export type Question = Parameters<Kinds[KindName]["truths"]>[0];
/** Question id to question; the model never sees the id. */
export type Questions = Readonly<Record<string, Question>>;
/** The answer that belongs to one question. */
export type AnswerFor<TQuestion extends Question> = AnswersByKind<TQuestion>[TQuestion["type"]];
/** One answer for each question, under the same id. */
export type AnswersFor<TQuestions extends Questions> = {
  -readonly [TId in keyof TQuestions]: AnswerFor<TQuestions[TId]>;
};
/** One answer in the gateway's form (contract section 2.4). */
export type Answer = AnswerFor<Question>;

/** A question kind, as code over all kinds sees it. */
export type QuestionKind = KindOf<Question, Answer>;
/** The question kinds by name. Code that differs by kind is a table `satisfies Record<KindName, …>`. */
export const questionKinds: Readonly<Record<KindName, QuestionKind>> = kinds;

/** The names of the kinds, for messages. */
export const kindList = /* @__PURE__ */ (() => {
  const names = Object.keys(kinds);
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
})();

/** One value that each answer to a question has. */
export type ValueField = ValueFieldOf<Answer>;

/** A value of one answer: its field, without `of` and with `value`. */
export type AnswerValue = ValueField extends infer TField
  ? TField extends { of(this: void, answer: Answer): infer TValue }
    ? Omit<TField, "of"> & { readonly value: TValue }
    : never
  : never;

/**
 * Returns the values of an answer, each with its form; the first is the answer in short. For columns,
 * which exist before there is an answer, use `questionKinds[question.type].values(question)`.
 *
 * @example
 * ```ts
 * valuesOf(boolean("Scam?"), { type: "boolean", probability: 0.04 })[0]; // { name: "probability", form: "probability", value: 0.04, … }
 * ```
 */
export function valuesOf(question: Question, answer: Answer): readonly AnswerValue[] {
  const fields = questionKinds[question.type].values(question);
  return fields.map(
    ({ of, ...shape }) => Object.assign(shape, { value: of(answer) }) as AnswerValue,
  );
}

/** Returns the labels that a person may give to a question, in the order to show them, or null. */
export function truthsOf(question: Question): readonly Truth[] | null {
  return questionKinds[question.type].truths(question);
}

type KindSchema<TField extends "questionSchema" | "answerSchema"> = Kinds[KindName][TField];

function toUnion<TField extends "questionSchema" | "answerSchema">(field: TField) {
  const schemas = Object.values(kinds).map((kind) => kind[field]);
  return z.discriminatedUnion("type", schemas as [KindSchema<TField>, ...KindSchema<TField>[]]);
}

/** One typed question (contract section 2.2). */
export const questionSchema = /* @__PURE__ */ toUnion("questionSchema");
/** One answer in the gateway's form (contract section 2.4). */
export const answerSchema = /* @__PURE__ */ toUnion("answerSchema");

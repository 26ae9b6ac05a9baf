import * as z from "zod/mini";
import { optionsObject } from "../options.ts";
import { recordOf } from "./json.ts";
import { type Question, type QuestionLimits, type Questions, quoteName } from "./question.ts";

/** A question that picks one of named options; names and descriptions are both read by the model. */
export const choiceQuestionSchema = z.strictObject({
  type: z.literal("choice"),
  instructions: z.string(),
  criteria: recordOf(z.string()),
});

/** A question that places the state on ordered levels; the position in the list is the level index. */
export const scoreQuestionSchema = z.strictObject({
  type: z.literal("score"),
  instructions: z.string(),
  criteria: z.array(z.string()),
});

/** A yes/no question; `criteria` is left out in the contract and understood by the vendor (field fact). */
export const booleanQuestionSchema = z.strictObject({
  type: z.literal("boolean"),
  instructions: z.string(),
  criteria: z.optional(
    z.strictObject({ true: z.optional(z.string()), false: z.optional(z.string()) }),
  ),
});

/** One typed question (contract section 2.2). */
export const questionSchema = z.discriminatedUnion("type", [
  choiceQuestionSchema,
  scoreQuestionSchema,
  booleanQuestionSchema,
]);

/** How large a question may be before it is rejected without sending. */
export const questionLimitsSchema = optionsObject({
  maxOptions: z.optional(z.int().check(z.minimum(1))),
  maxLevels: z.optional(z.int().check(z.minimum(1))),
});

/** What is wrong with questions, and with which; both null where nothing is. */
export interface QuestionProblem {
  readonly message: string | null;
  readonly questionId: string | null;
}

const noProblem: QuestionProblem = { message: null, questionId: null };

/** Returns the first thing that is wrong with questions. */
export function findQuestionProblem(questions: Questions, limits: QuestionLimits): QuestionProblem {
  const entries = Object.entries(questions);
  if (entries.length === 0) return { message: "Ask at least one question.", questionId: null };
  for (const [questionId, question] of entries) {
    const problem = problemOfOne(question, limits);
    if (problem === null) continue;
    return { message: `The question ${quoteName(questionId)} ${problem}.`, questionId };
  }
  return noProblem;
}

function problemOfOne(
  question: Question,
  { maxOptions = 255, maxLevels = 10 }: QuestionLimits,
): string | null {
  const issue = questionSchema.safeParse(question).error?.issues[0];
  if (issue !== undefined) {
    const where =
      issue.path.length === 0 ? "" : ` at ${quoteName(issue.path.map(String).join("."))}`;
    return `is not a choice, score or boolean question${where}: ${issue.message}`;
  }
  if (!/\S/.test(question.instructions)) return "has empty instructions; write what it asks";
  if (question.type === "boolean") return null;
  const [kind, most, option] =
    question.type === "choice"
      ? (["option", maxOptions, "maxOptions"] as const)
      : (["level", maxLevels, "maxLevels"] as const);
  const count = Object.keys(question.criteria).length;
  if (count === 0) return `has no ${kind}; give it at least one`;
  if (count <= most) return null;
  return `has ${count} ${kind}s, more than ${most}; a service that takes more needs questionLimits.${option}`;
}

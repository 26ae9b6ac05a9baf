import * as z from "zod/mini";
import { optionsObject } from "../options.ts";
import { quoteName } from "./json.ts";
import { type Question, questionKinds, type Questions, questionSchema } from "./kinds.ts";
import type { QuestionLimits } from "./kinds/kind.ts";

/** How large a question may be before it is rejected without sending. */
export const questionLimitsSchema = optionsObject({
  maxOptions: z.optional(z.int().check(z.minimum(1))),
  maxLevels: z.optional(z.int().check(z.minimum(1))),
});

/** The problem of questions; both null if there is none. */
export interface QuestionProblem {
  readonly message: string | null;
  readonly questionId: string | null;
}

const noProblem: QuestionProblem = { message: null, questionId: null };

/** Returns the first problem of questions. */
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

const kindNames = Object.keys(questionKinds);
/** The names of the kinds, for messages. */
export const kindList = `${kindNames.slice(0, -1).join(", ")} or ${kindNames.at(-1)}`;

function problemOfOne(question: Question, limits: QuestionLimits): string | null {
  const issue = questionSchema.safeParse(question).error?.issues[0];
  if (issue !== undefined) {
    const where =
      issue.path.length === 0 ? "" : ` at ${quoteName(issue.path.map(String).join("."))}`;
    return `is not a ${kindList} question${where}: ${issue.message}`;
  }
  if (!/\S/.test(question.instructions)) return "has empty instructions; write the question";
  const kind = questionKinds[question.type];
  const { limit } = kind;
  if (limit === null) return null;
  const count = kind.keys(question).length;
  const most = limits[limit.option] ?? limit.most;
  if (count === 0) return `has no ${limit.unit}; give it at least one`;
  if (count <= most) return null;
  return `has ${count} ${limit.unit}s, more than ${most}; a service that takes more needs questionLimits.${limit.option}`;
}

import type { Questions } from "evaluator-client";

/** The output fields of one question. */
export interface AnswerField {
  readonly questionId: string;
  readonly type: "choice" | "score" | "boolean";
  /** Where the option, the mean level or the probability goes. */
  readonly field: string;
  /** Where the confidence goes; a boolean has none. */
  readonly confidenceField: string | null;
}

/** Returns the output fields of questions in order; for the default ones, the contract's (section 4.7). */
export function answerFields(questions: Questions): AnswerField[] {
  return Object.entries(questions).map(([questionId, { type }]) => {
    const field = toCamelCase(questionId);
    return { questionId, type, field, confidenceField: type === "boolean" ? null : `${field}Conf` };
  });
}

function toCamelCase(id: string): string {
  return id.replace(/[_\-\s]+(\S)/gu, (_, letter: string) => letter.toUpperCase());
}

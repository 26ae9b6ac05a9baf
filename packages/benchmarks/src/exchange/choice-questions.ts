import type { Questions } from "evaluator-client";

/** How many questions a request carries, and how many options each has. */
export interface QuestionShape {
  readonly questions: number;
  readonly options: number;
}

/** Gives as many choice questions with as many options as the shape says. */
export function choiceQuestions({ questions, options }: QuestionShape): Questions {
  const ids = Array.from({ length: questions }, (_, index) => `question_${index}`);
  return Object.fromEntries(ids.map((id) => [id, choiceOf(id, options)]));
}

function choiceOf(id: string, options: number): Questions[string] {
  const names = Array.from({ length: options }, (_, index) => `option_${index}`);
  return {
    type: "choice",
    instructions: `Which option fits the email best, as far as ${id} goes?`,
    criteria: Object.fromEntries(names.map((name) => [name, `what ${name} stands for`])),
  };
}

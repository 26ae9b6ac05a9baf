import { perQuestion } from "../questions/per-question.ts";
import type { Question, Questions } from "../questions/question.ts";

/** Makes a writer of questions as JSON, each in the form that a transport gives it. */
export function questionsJson(
  toWireQuestion: (question: Question) => object,
): (questions: Questions) => string {
  const jsonOf = perQuestion((question) => JSON.stringify(toWireQuestion(question)));
  return (questions) => {
    const fields = Object.entries(questions).map(
      ([id, question]) => `${JSON.stringify(id)}:${jsonOf(question)}`,
    );
    return `{${fields.join(",")}}`;
  };
}

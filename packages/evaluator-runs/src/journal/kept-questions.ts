import { choice, type Questions } from "evaluator-client";
import { findSortedKeys } from "evaluator-kit";

/** Reads the questions of a journal, with their options in the order in which they were asked: it is input to the model. */
export function parseKeptQuestions(text: string): Questions {
  const questions = JSON.parse(text) as Questions;
  const entries = Object.entries(questions);
  for (const { path, keys } of findSortedKeys(text, questions)) {
    const [id, field, ...deeper] = path;
    const question = questions[String(id)];
    if (question?.type !== "choice" || field !== "criteria" || deeper.length > 0) continue;
    const { criteria } = choice(
      question.instructions,
      keys.map((name) => [name, question.criteria[name] ?? null] as const),
    );
    entries.push([String(id), { ...question, criteria }]);
  }
  return Object.fromEntries(entries);
}

import { choice, type Questions } from "evaluator-client";
import { findSortedKeys } from "evaluator-kit";

/** Reads the questions of a journal, with their options in the order in which they were asked: it is input to the model. */
export function parseKeptQuestions(questionsText: string): Questions {
  const questions = JSON.parse(questionsText) as Questions;
  const entries = Object.entries(questions);
  for (const { path, keys } of findSortedKeys(questionsText, questions)) {
    const [questionId, fieldName, ...deeperPath] = path;
    const question = questions[String(questionId)];
    if (question?.type !== "choice" || fieldName !== "criteria" || deeperPath.length > 0) continue;
    const { criteria } = choice(
      question.instructions,
      keys.map((optionName) => [optionName, question.criteria[optionName] ?? null] as const),
    );
    entries.push([String(questionId), { ...question, criteria }]);
  }
  return Object.fromEntries(entries);
}

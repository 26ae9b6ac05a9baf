import { answerSchema, checkAnswers } from "evaluator-client";
import { expect, test } from "vitest";
import { tierQuestions, triageQuestions } from "../sample-requests.ts";
import { sampleAnswers } from "./replies.ts";

test.each([
  ["the triage questions", triageQuestions()],
  ["the router's question", tierQuestions],
])("answers %s as the contract wants it", (_, questions) => {
  const answers = sampleAnswers(questions);
  expect(Object.keys(answers)).toEqual(Object.keys(questions));
  for (const answer of Object.values(answers)) answerSchema.parse(answer);
  const rounding = { probabilityDecimals: 2, scoreDecimals: 2 };
  checkAnswers({ questions, answers, rounding });
});

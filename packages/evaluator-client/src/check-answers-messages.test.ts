import { expect, test } from "vitest";
import { checkAnswers } from "./check-answers.ts";
import { boolean, choice, score } from "./questions/kinds.ts";

const rounding = { probabilityDecimals: 2, scoreDecimals: 2 };
const questions = {
  pick: choice("which?", { a: "A", b: "B" }),
  rate: score("how much?", ["none", "all"]),
  sure: boolean("sure?"),
};
const honest = {
  pick: { type: "choice", choice: "a", probabilities: { a: 0.8, b: 0.2 } },
  rate: { type: "score", score: 0.5, probabilities: { "0": 0.5, "1": 0.5 } },
  sure: { type: "boolean", probability: 0.5 },
};
const { pick, rate } = honest;

function messageOf(check: Omit<Parameters<typeof checkAnswers>[0], "rounding">): unknown {
  try {
    return checkAnswers({ ...check, rounding });
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test.each<[object, string]>([
  [{ pick: null }, '"pick" is not an object (rule answer-type)'],
  [{ pick: rate }, '"pick" is not of the type choice (rule answer-type)'],
  [
    { pick: { ...pick, choice: "c" } },
    '"pick" picks an option that was not offered (rule choice-option)',
  ],
  [
    { pick: { ...pick, choice: "b" } },
    '"pick" picks an option that another one beats (rule choice-highest)',
  ],
  [
    { pick: { ...pick, probabilities: { a: 1 } } },
    '"pick" does not have one probability for every option or level (rule probabilities-keys)',
  ],
  [
    { pick: { ...pick, probabilities: { a: 1, b: 1 } } },
    '"pick" has probabilities that do not sum to 1 within rounding (rule probabilities-sum)',
  ],
  [{ rate: { ...rate, score: 2 } }, '"rate" has a score outside of 0 to 1 (rule score-range)'],
  [
    { rate: { ...rate, score: 0.6 } },
    '"rate" has a score that is not the weighted mean of its levels (rule score-mean)',
  ],
  [
    { sure: { type: "boolean", probability: 2 } },
    '"sure" has a probability that is not a number from 0 to 1 (rule probabilities-range)',
  ],
  [{ more: rate }, '"more" answers a question that was not asked (rule answer-ids)'],
])("rejects %j with: %s", (wrong, what) => {
  expect(messageOf({ questions, answers: { ...honest, ...wrong } })).toBe(
    `The answer ${what}; it is not used. Asking again may not help.`,
  );
});

test("names the missing answer", () => {
  expect(messageOf({ questions, answers: { pick, rate } })).toBe(
    'The answer "sure" is missing (rule answer-ids); it is not used. Asking again may not help.',
  );
});

test("names up to five refused questions", () => {
  const refused = Array.from({ length: 6 }, (_, index) => [`q${index}`, { type: "refusal" }]);
  const asked = refused.map(([id]) => [id, boolean("sure?")]);
  const check = { questions: Object.fromEntries(asked), answers: Object.fromEntries(refused) };
  expect(messageOf(check)).toBe(
    'The model declined to answer 6 of 6 questions: "q0", "q1", "q2", "q3", "q4". Rephrase them or change the state.',
  );
});

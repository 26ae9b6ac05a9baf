import { expect, test } from "vitest";
import { InvalidResponseError, RefusalError } from "./errors.ts";
import { checkAnswers } from "./check-answers.ts";
import { type Questions, boolean, choice, score } from "./questions/kinds.ts";

const rounding = { probabilityDecimals: 2, scoreDecimals: 2 };
const abc = { pick: choice("which?", { a: "A", b: "B", c: "C" }) };
const ab = { pick: choice("which?", { a: "A", b: "B" }) };
const two = { rate: score("how much?", ["none", "all"]) };
const ten = {
  rate: score(
    "how much?",
    Array.from({ length: 10 }, (_, level) => `${level}`),
  ),
};
const levels = { rate: score("how much?", ["none", "some", "all"]) };
const yesNo = { sure: boolean("sure?") };

function pick(choice: unknown, probabilities: unknown) {
  return { pick: { type: "choice", choice, probabilities } };
}

/** A distribution of ten levels that prints as one of them alone. */
function only(level: number) {
  return Object.fromEntries(Array.from({ length: 10 }, (_, at) => [at, at === level ? 1 : 0]));
}

/** Ten levels that print so only where each is half a unit higher: their mean is 4.375. */
const allRoundedDown = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [at, at < 5 ? 0.1 : 0.09]),
);

/**
 * Their sum of 1.04 is within the bound for ten levels (half a unit each), though eight print 0. The
 * least that the two can be is 0.515 each, which has the mean 4.635.
 */
const twoTooHigh = { ...only(0), "0": 0.52, "9": 0.52 };

function rate(score: unknown, probabilities: unknown) {
  return { rate: { type: "score", score, probabilities } };
}

function failureOf(check: Omit<Parameters<typeof checkAnswers>[0], "rounding">): unknown {
  try {
    return checkAnswers({ ...check, rounding });
  } catch (error) {
    return error;
  }
}

test.each<[string, Questions, Record<string, unknown>]>([
  ["a sum of 0.99", abc, pick("a", { a: 0.33, b: 0.33, c: 0.33 })],
  ["a sum of 1.01", abc, pick("a", { a: 0.34, b: 0.34, c: 0.33 })],
  ["a printed 1", abc, pick("a", { a: 1, b: 0, c: 0 })],
  ["a sum that is 0.99 but for binary fractions", ab, pick("a", { a: 0.5, b: 0.49 })],
  ["an option beaten by 0.01", ab, pick("b", { a: 0.5, b: 0.49 })],
  ["a mean off by 0.01 but for binary fractions", two, rate(0.51, { "0": 0.5, "1": 0.5 })],
  ["a tie", abc, pick("b", { a: 0.5, b: 0.5, c: 0 })],
  ["a mean off by 0.01", levels, rate(1.01, { "0": 0.33, "1": 0.34, "2": 0.33 })],
  ["the lowest score", levels, rate(0, { "0": 1, "1": 0, "2": 0 })],
  ["the highest mean", levels, rate(1.01, { "0": 0.33, "1": 0.34, "2": 0.33 })],
  ["the lowest mean", levels, rate(0.99, { "0": 0.33, "1": 0.34, "2": 0.33 })],
  ["the mean of what sums to 0.95 as printed", ten, rate(4.38, allRoundedDown)],
  ["the highest mean of what prints as 0", ten, rate(0.05, only(0))],
  ["the lowest mean of what prints as 1", ten, rate(8.95, only(9))],
  ["a probability of 0", yesNo, { sure: { type: "boolean", probability: 0 } }],
])("accepts %s", (_, questions, answers) => {
  expect(failureOf({ questions, answers })).toBeUndefined();
});

test("accepts 255 equal options that all print 0", () => {
  const names = Array.from({ length: 255 }, (_, index) => `option ${index}`);
  const questions = {
    pick: choice("which?", Object.fromEntries(names.map((name) => [name, name]))),
  };
  const probabilities = Object.fromEntries(names.map((name) => [name, 0]));
  expect(failureOf({ questions, answers: pick("option 7", probabilities) })).toBeUndefined();
});

test.each<[string, string, Questions, Record<string, unknown>]>([
  ["a missing answer", "answer-ids", abc, {}],
  ["an answer that is null", "answer-type", abc, { pick: null }],
  ["the wrong type", "answer-type", abc, { pick: { type: "boolean", probability: 1 } }],
  ["an option that was not offered", "choice-option", abc, pick("d", { a: 1, b: 0, c: 0 })],
  ["a choice that is no string", "choice-option", abc, pick(0, { a: 1, b: 0, c: 0 })],
  ["a choice beaten by 0.02", "choice-highest", ab, pick("b", { a: 0.51, b: 0.49 })],
  ["a beaten choice", "choice-highest", abc, pick("b", { a: 0.6, b: 0.4, c: 0 })],
  ["no probabilities", "probabilities-keys", abc, pick("a", undefined)],
  ["a missing option", "probabilities-keys", abc, pick("a", { a: 1, b: 0 })],
  ["another option instead", "probabilities-keys", abc, pick("a", { a: 1, b: 0, d: 0 })],
  ["an inherited option", "probabilities-keys", abc, pick("a", { a: 1, b: 0, toString: 0 })],
  ["NaN", "probabilities-range", abc, pick("a", { a: Number.NaN, b: 0, c: 0 })],
  ["a negative probability", "probabilities-range", abc, pick("a", { a: 1, b: -0.1, c: 0.1 })],
  ["a probability over 1", "probabilities-range", abc, pick("a", { a: 1.01, b: 0, c: 0 })],
  ["a probability as text", "probabilities-range", abc, pick("a", { a: "1", b: 0, c: 0 })],
  ["a sum of 0.98", "probabilities-sum", abc, pick("a", { a: 0.33, b: 0.33, c: 0.32 })],
  ["a sum of 1.02", "probabilities-sum", abc, pick("a", { a: 0.34, b: 0.34, c: 0.34 })],
  ["two levels whose least is over 1", "probabilities-sum", ten, rate(4.64, twoTooHigh)],
  ["a score over the last level", "score-range", levels, rate(2.01, { "0": 0, "1": 0, "2": 1 })],
  ["a score below the first level", "score-range", levels, rate(-0.01, { "0": 1, "1": 0, "2": 0 })],
  ["a score that is no number", "score-range", levels, rate("1", { "0": 0, "1": 1, "2": 0 })],
  ["an infinite score", "score-range", levels, rate(Infinity, { "0": 0, "1": 1, "2": 0 })],
  ["a score over any mean", "score-mean", levels, rate(1.02, { "0": 0.33, "1": 0.34, "2": 0.33 })],
  ["a score under any mean", "score-mean", levels, rate(0.98, { "0": 0.33, "1": 0.34, "2": 0.33 })],
  [
    "the mean of what is printed, where that sums to 0.95",
    "score-mean",
    ten,
    rate(4.15, allRoundedDown),
  ],
  ["a score of what prints as 0", "score-mean", ten, rate(0.06, only(0))],
  ["a score of what prints as 1", "score-mean", ten, rate(8.94, only(9))],
  [
    "a boolean of 1e999",
    "probabilities-range",
    yesNo,
    { sure: { type: "boolean", probability: JSON.parse("1e999") } },
  ],
])("rejects %s by the rule %s", (_, rule, questions, answers) => {
  const error = failureOf({ questions, answers });
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({ rule, questionId: Object.keys(questions)[0] });
});

test("rejects an answer that was not asked for", () => {
  const answers = {
    ...pick("a", { a: 1, b: 0, c: 0 }),
    extra: { type: "boolean", probability: 1 },
  };
  expect(failureOf({ questions: abc, answers })).toMatchObject({
    questionId: "extra",
    rule: "answer-ids",
  });
});

test("names every refused question, once the others are right", () => {
  const questions = { ...abc, ...levels, ...yesNo };
  const refusal = { type: "refusal" };
  const answers = { pick: refusal, rate: refusal, sure: { type: "boolean", probability: 0.5 } };
  const error = failureOf({ questions, answers });
  expect(error).toBeInstanceOf(RefusalError);
  expect(error).toMatchObject({ questionIds: ["pick", "rate"] });
  const worse = failureOf({ questions, answers: { ...answers, sure: null } });
  expect(worse).toMatchObject({ rule: "answer-type", questionId: "sure" });
});

test.each(["__proto__", "constructor", "toString", "", "x".repeat(10_000)])(
  "takes %j as an id and an option like any other",
  (name) => {
    const questions = Object.fromEntries([
      [name, choice("which?", Object.fromEntries([[name, "this"]]))],
    ]);
    const probabilities = Object.fromEntries([[name, 1]]);
    const answers = Object.fromEntries([[name, { type: "choice", choice: name, probabilities }]]);
    expect(failureOf({ questions, answers })).toBeUndefined();
    const without = failureOf({ questions, answers: {} });
    expect(without).toMatchObject({ rule: "answer-ids", questionId: name });
  },
);
test.each<[string, readonly number[], boolean]>([
  ["ten options of 0.60, 0.44 and zeros", [0.6, 0.44, ...zeros(8)], false],
  ["twenty of 0.60, 0.50 and zeros", [0.6, 0.5, ...zeros(18)], false],
  ["a hundred of 0.50, 0.50, 0.49 and zeros", [0.5, 0.5, 0.49, ...zeros(97)], false],
  ["two hundred of 1.00, 0.99 and zeros", [1, 0.99, ...zeros(198)], false],
  ["forty of 0.79 and 39 times 0.01", [0.79, ...Array<number>(39).fill(0.01)], true],
  ["255 zeros", zeros(255), true],
])("decides by what printed values may stand for: %s", (_, printed, isPossible) => {
  const entries = printed.map((probability, index) => [`o${index}`, probability] as const);
  const probabilities = Object.fromEntries(entries);
  const questions = {
    a: choice("which?", Object.fromEntries(entries.map(([name]) => [name, name]))),
  };
  const failure = failureOf({
    questions,
    answers: { a: { type: "choice", choice: "o0", probabilities } },
  });
  const rule = (failure as { rule?: string } | undefined)?.rule;
  expect(rule).toBe(isPossible ? undefined : "probabilities-sum");
});

function zeros(count: number): number[] {
  return Array<number>(count).fill(0);
}

import { expect, test } from "vitest";
import type { Opinion } from "../judge/evidence.ts";
import type { QuestionInput } from "../questions/kinds/kinds.ts";
import { answerRequest } from "./answer-request.ts";

function printAnswer(asked: QuestionInput, opinion: Opinion) {
  const input = { state: "", questions: { asked } };
  const options = { recorded: () => null, ruled: () => ({ asked: opinion }) };
  return answerRequest(input, { ...options, decimals: 2, confidence: true }).answers["asked"];
}

function choiceOf(...names: string[]): QuestionInput {
  const criteria = Object.fromEntries(names.map((name) => [name, null]));
  return { type: "choice", instructions: null, criteria };
}

function scoreOf(levels: number): QuestionInput {
  return { type: "score", instructions: null, criteria: Array.from({ length: levels }, String) };
}

test("probabilities are rounded to two decimals and may sum to 0.99", () => {
  const printed = printAnswer(choiceOf("a", "b", "c"), {
    probabilities: [1 / 3, 1 / 3, 1 / 3],
    isInformed: false,
  });
  expect(printed).toEqual({
    type: "choice",
    value: "a",
    probabilities: { a: 0.33, b: 0.33, c: 0.33 },
    confidence: 0,
  });
});

test("255 equal options all print 0 and the first is picked", () => {
  const names = Array.from({ length: 255 }, (_, index) => `option ${index}`);
  const printed = printAnswer(choiceOf(...names), {
    probabilities: names.map(() => 1 / 255),
    isInformed: false,
  });
  expect(printed).toMatchObject({ value: "option 0" });
  expect(new Set(Object.values(printed?.probabilities ?? {}))).toEqual(new Set([0]));
});

test("the choice comes from unrounded values, not from a tie after rounding", () => {
  const probabilities = [0.3334, 0.3336, 0.333];
  expect(printAnswer(choiceOf("a", "b", "c"), { probabilities, isInformed: true })).toMatchObject({
    value: "b",
    probabilities: { a: 0.33, b: 0.33, c: 0.33 },
  });
});

test("the score is the mean of unrounded probabilities", () => {
  const probabilities = [0.004, 0.004, 0.992];
  expect(printAnswer(scoreOf(3), { probabilities, isInformed: true })).toMatchObject({
    value: 1.99,
    probabilities: { "0": 0, "1": 0, "2": 0.99 },
  });
});

test("one peak gives high confidence, a flat distribution none", () => {
  const peaked = { probabilities: [0, 1, 0], isInformed: true };
  const flat = { probabilities: [1 / 3, 1 / 3, 1 / 3], isInformed: false };
  expect(printAnswer(scoreOf(3), peaked)).toMatchObject({ confidence: 1 });
  expect(printAnswer(scoreOf(3), flat)).toMatchObject({ confidence: 0 });
});

test("a yes/no answer has a probability and no confidence", () => {
  const question: QuestionInput = {
    type: "boolean",
    instructions: "?",
    criteria: { true: null, false: null },
  };
  expect(printAnswer(question, { probabilities: [0.7251], isInformed: true })).toEqual({
    type: "boolean",
    value: null,
    probabilities: { yes: 0.73 },
    confidence: null,
  });
});

test("option names such as __proto__ are data", () => {
  const names = ["__proto__", "constructor", "toString", ""];
  const printed = printAnswer(choiceOf(...names), {
    probabilities: [0.7, 0.1, 0.1, 0.1],
    isInformed: true,
  });
  expect(printed).toMatchObject({ value: "__proto__" });
  expect(Object.keys(printed?.probabilities ?? {})).toEqual(names);
});

test.each([
  [["a", "b"], [0.4, 0.6], "b"],
  [["a", "b"], [0.5, 0.5], "a"],
  [["a", "other", "b"], [1 / 3, 1 / 3, 1 / 3], "other"],
  [["a", "None of these"], [0.5, 0.5], "None of these"],
  [["a", "otherwise"], [0.5, 0.5], "a"],
  [["a", "other"], [0.6, 0.4], "a"],
  [[""], [1], ""],
])("of %j with %j: %j", (options, probabilities, picked) => {
  const answer = printAnswer(choiceOf(...options), { probabilities, isInformed: true });
  expect(answer?.value).toBe(picked);
});

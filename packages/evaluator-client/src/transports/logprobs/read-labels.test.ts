import { expect, test } from "vitest";
import type { FirstToken } from "./label-servers.ts";
import type { Reading } from "./question-plan.ts";
import { readLabels } from "./read-labels.ts";

function tokens(probabilities: Record<string, number>): FirstToken["tokens"] {
  return Object.entries(probabilities).map(([text, p]) => ({ text, logprob: Math.log(p) }));
}

function readingOf(labels: readonly string[], foldsCase = false): Reading {
  return { prompt: "", labels, foldsCase, optionOf: labels.map((_, index) => index) };
}

const letters = readingOf(["A", "B"]);
const words = readingOf(["yes", "no"], true);
const digits = readingOf(["1", "12"]);

test.each<[string, Reading, Record<string, number>, number[]]>([
  ["a leading space", letters, { A: 0.3, " A": 0.2, B: 0.1, "▁B": 0.1, ĠB: 0.1 }, [0.5, 0.3]],
  ["no other case of a letter", letters, { A: 0.3, a: 0.6, B: 0.1 }, [0.3, 0.1]],
  ["no longer token", letters, { A: 0.3, An: 0.3, "A)": 0.2, B: 0.1 }, [0.3, 0.1]],
  ["no second space", letters, { A: 0.3, "  A": 0.3, B: 0.1 }, [0.3, 0.1]],
  [
    "case and space of words",
    words,
    { yes: 0.2, " Yes": 0.2, YES: 0.1, no: 0.1, No: 0.1 },
    [0.5, 0.2],
  ],
  [
    "no word that only begins so",
    words,
    { yes: 0.2, yesterday: 0.5, no: 0.1, not: 0.1 },
    [0.2, 0.1],
  ],
  ["numbers as wholes", digits, { "1": 0.5, " 12": 0.3, "123": 0.1 }, [0.5, 0.3]],
])("sums %s", (_, reading, listed, masses) => {
  const read = readLabels(tokens(listed), reading, "q");
  const weights = read.logWeights.map((weight) => Math.exp(weight));
  for (const [index, mass] of masses.entries()) expect(weights[index]).toBeCloseTo(mass, 12);
  expect(read.labelMass).toBeCloseTo(
    masses.reduce((sum, mass) => sum + mass, 0),
    12,
  );
  expect(read.unseenShare).toBe(0);
});

test("a label that is in no list has the smallest listed value, never zero", () => {
  const read = readLabels(tokens({ A: 0.9, The: 0.05, I: 0.01 }), letters, "q");
  expect(Math.exp(read.logWeights[1] ?? 0)).toBeCloseTo(0.01, 12);
  expect(read.unseenShare).toBeCloseTo(0.01 / 0.9, 12);
  expect(read.labelMass).toBeCloseTo(0.9, 12);
});

test.each([-9999, -9999.5, -3.4e38, Number.NEGATIVE_INFINITY])(
  "the filler %d is no value",
  (logprob) => {
    const listed = [...tokens({ A: 0.9, The: 0.05 }), { text: "B", logprob }];
    const read = readLabels(listed, letters, "q");
    expect(Math.exp(read.logWeights[1] ?? 0)).toBeCloseTo(0.05, 12);
  },
);

test.each<[string, number[], string]>([
  ["a probability in place of its logarithm", [0.9, 0.1], "logprob-range"],
  ["no number", [Number.NaN], "logprob-range"],
  ["logarithms that add up to more than 1", [0, 0, 0], "logprob-sum"],
])("rejects %s", (_, logprobs, rule) => {
  const listed = logprobs.map((logprob) => ({ text: "A", logprob }));
  expect(() => readLabels(listed, letters, "q")).toThrow(
    expect.objectContaining({ name: "InvalidResponseError", rule, questionId: "q" }),
  );
});

test("half precision may add up to a little over 1", () => {
  const listed = tokens({ A: 0.7, B: 0.305 });
  expect(readLabels(listed, letters, "q").labelMass).toBe(1);
});

test("with no label listed at all, all of it is unseen", () => {
  const read = readLabels(tokens({ The: 0.9 }), letters, "q");
  expect(read).toMatchObject({
    labelMass: 0,
    unseenShare: Number.POSITIVE_INFINITY,
    topToken: "The",
  });
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { choice, score } from "../../questions/kinds.ts";
import { combineReadings } from "./read-labels.ts";
import { type Debias, planQuestion, type Reading } from "./question-plan.ts";

const weight = fc.double({ min: 0.01, max: 1, noNaN: true });

function readingsOf(count: number, debias: Debias): readonly Reading[] {
  const options = Array.from({ length: count }, (_, index): [string, string] => [`o${index}`, "x"]);
  return planQuestion(choice("Which?", Object.fromEntries(options)), debias).whole.readings;
}

/** What a model with this opinion of the options, and this liking for the labels, would say. */
function readAll(readings: readonly Reading[], opinion: number[], likes: number[]) {
  const read = readings.map((reading) => {
    const logWeights = reading.optionOf.map((option, label) =>
      Math.log((opinion[option] ?? 0) * (likes[label] ?? 0)),
    );
    return {
      reading,
      labels: { logWeights, labelMass: 1, mostMass: 1, unseenShare: 0, topToken: "" },
    };
  });
  return combineReadings(read);
}

test("shifting up to eight options cancels every liking for labels, and keeps the opinion", () => {
  const cases = fc.integer({ min: 2, max: 8 }).chain((count) => {
    const some = fc.array(weight, { minLength: count, maxLength: count });
    return fc.tuple(fc.constant(count), some, some);
  });
  fc.assert(
    fc.property(cases, ([count, opinion, likes]) => {
      const { probabilities } = readAll(readingsOf(count, "balanced"), opinion, likes);
      const sum = opinion.reduce((total, part) => total + part, 0);
      for (const [option, part] of opinion.entries()) {
        expect(probabilities[option]).toBeCloseTo(part / sum, 9);
      }
    }),
  );
});

test("two readings of nine options do not, which is why they are called reduced", () => {
  const likes = [9, 1, 1, 1, 1, 1, 1, 1, 1];
  const { probabilities } = readAll(readingsOf(9, "balanced"), Array(9).fill(1), likes);
  expect(probabilities[0]).toBeCloseTo(3 / 13, 9);
  expect(probabilities[4]).toBeCloseTo(1 / 13, 9);
});

test.each<[number, Debias, number, string]>([
  [1, "balanced", 1, "balanced"],
  [2, "balanced", 2, "balanced"],
  [3, "balanced", 3, "balanced"],
  [8, "balanced", 8, "balanced"],
  [9, "balanced", 2, "reduced"],
  [16, "balanced", 2, "reduced"],
  [2, "raw", 1, "raw"],
  [16, "raw", 1, "raw"],
])("%d options, %s: %d readings, %s", (count, debias, readings, named) => {
  const options = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`o${index}`, ""]),
  );
  const set = planQuestion(choice("Which?", options), debias).whole;
  expect(set.readings).toHaveLength(readings);
  expect(set.debias).toBe(named);
});

test("the levels of a score keep their order while their digits are reversed", () => {
  const [forward, reversed] = planQuestion(score("How?", ["a", "b", "c"]), "balanced").whole
    .readings;
  expect(forward?.prompt).toContain("0) a\n1) b\n2) c");
  expect(reversed?.prompt).toContain("2) a\n1) b\n0) c");
  expect(reversed?.optionOf).toEqual([2, 1, 0]);
});

test("readings flip when they disagree about the winner, not when they agree", () => {
  const readings = readingsOf(2, "balanced");
  expect(readAll(readings, [1, 1], [2, 1]).flips).toBe(true);
  expect(readAll(readings, [3, 1], [2, 1]).flips).toBe(false);
});

test.each([17, 32, 33, 100, 255])(
  "%d options fall into even blocks, each option in one",
  (count) => {
    const options = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`o${index}`, ""]),
    );
    const { whole, blocks } = planQuestion(choice("Which?", options), "raw");
    const sizes = (blocks?.members ?? []).map((member) => member.options.length);
    expect(whole.readings[0]?.labels.at(-1)).toBe(String(count));
    expect(sizes).toHaveLength(Math.ceil(count / 16));
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
    const placed = (blocks?.members ?? []).flatMap((member) => member.options);
    expect(placed).toEqual(Array.from({ length: count }, (_, index) => index));
  },
);

import { expect, test } from "vitest";
import { neededLabels } from "./intervals.ts";
import { learnThenTest, searchPromises } from "./learn-then-test.ts";

const rowsOf = (count: number, value: number) => Array.from({ length: count }, () => value);

test("a threshold that no row reaches promises nothing, nor does one after it", () => {
  const [sureness, wrong] = [rowsOf(100, 0.9), rowsOf(100, 0)];
  const promise = (thresholds: number[]) =>
    learnThenTest(sureness, wrong, { maxRisk: 0.05, thresholds })?.threshold ?? null;
  expect(promise([0.9])).toBe(0.9);
  expect(promise([1, 0.9])).toBeNull();
});

test("seldom drawn rows weigh more than often drawn ones", () => {
  const sureness = rowsOf(405, 0.9);
  const wrong = [...rowsOf(5, 1), ...rowsOf(400, 0)];
  const weights = [...rowsOf(5, 1), ...rowsOf(400, 0.01)];
  expect(learnThenTest(sureness, wrong, { maxRisk: 0.05 })?.threshold).toBe(0.9);
  expect(learnThenTest(sureness, wrong, { maxRisk: 0.05, weights })).toBeNull();
});

test("the smallest risk of labels that are all right is one minus the root of the level", () => {
  const action = {
    question: "scam",
    action: "no",
    sureness: rowsOf(59, 0.9),
    wrong: rowsOf(59, 0),
  };
  const [found] = searchPromises([{ ...action, action: "no" }], { maxRisk: 0.05 });
  expect(found?.smallest?.risk).toBeCloseTo(1 - 0.05 ** (1 / 59), 9);
});

test("each of several promises takes more labels than one alone", () => {
  const bound = { maxRisk: 0.05, confidence: 0.95 };
  const needed = [1, 2, 10].map((actions) => neededLabels(bound, actions).forPromiseWithoutErrors);
  expect(needed).toEqual([59, 72, 104]);
});

import { expect, test } from "vitest";
import { checkWorlds, playChecks } from "../testing/check-worlds.ts";
import { checkThreshold, checkThresholds } from "./check-threshold.ts";

test.each(checkWorlds)("in few of 300 rounds a verdict is false: $name", (world) => {
  expect(playChecks(world, 300)).toBeLessThanOrEqual(world.limit);
});

const locked = {
  question: "q",
  action: "no",
  threshold: 0.9,
  maxRisk: 0.05,
  confidence: 0.95,
  n: 100,
  wrong: 1,
} as const;

/** Returns a test of labels of "no", all right, which are drawn from records with the printed values of `all`. */
function testOf(n: number, all: readonly number[] | null = null) {
  const p = Array.from({ length: n }, () => 0.05);
  return { locked, rows: { p, cameTrue: p.map(() => 0) }, all };
}

test("lines share the doubt; a line without a label takes none of it", () => {
  const verdicts = (...tests: Parameters<typeof checkThresholds>[0]) =>
    checkThresholds(tests).map(({ verdict }) => verdict);
  expect(verdicts(testOf(60))).toEqual(["holds"]);
  expect(verdicts(testOf(60), testOf(0))).toEqual(["holds", "not enough labels"]);
  expect(verdicts(testOf(60), testOf(72))).toEqual(["not enough labels", "holds"]);
  expect(checkThreshold(locked, testOf(60).rows).verdict).toBe("holds");
});

test("the limit that decides is one-sided, at the line's part of the doubt", () => {
  const [alone] = checkThresholds([testOf(60)]);
  expect(alone?.atMost).toBeCloseTo(1 - 0.05 ** (1 / 60), 7);
  const [first] = checkThresholds([testOf(60), testOf(60)]);
  expect(first?.atMost).toBeCloseTo(1 - 0.025 ** (1 / 60), 7);
});

test("only the records that are acted on must be drawn fairly", () => {
  const [acted, others] = [0.05, 0.6].map((p) => Array.from({ length: 500 }, () => p));
  const all = [...(acted ?? []), ...(others ?? [])];
  expect(checkThresholds([testOf(60, all)])[0]?.verdict).toBe("holds");
  const surer = Array.from({ length: 500 }, () => 0.01);
  expect(checkThresholds([testOf(60, [...all, ...surer])])[0]?.verdict).toBe("no fair draw");
});

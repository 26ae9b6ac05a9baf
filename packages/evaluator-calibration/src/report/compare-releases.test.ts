import { expect, test } from "vitest";
import { columnOf, labelled, labelledWith, world } from "../testing/worlds.ts";
import { playDrift } from "../testing/drift-worlds.ts";
import { compareLabelled, compareReleases } from "./compare-releases.ts";

test("two releases: the same answers are no change, others are", () => {
  const rows = world(1500, (p) => p);
  const before = columnOf(rows);
  expect(compareReleases(before, columnOf(rows), { seed: 1, labelled: null })).toMatchObject({
    isChanged: false,
    flips: { n: 0, of: 1500 },
    labelled: null,
  });
  const shifted = rows.map(({ id, p, truth }) => ({
    id,
    p: Math.round(100 * p ** 1.3) / 100,
    truth,
  }));
  expect(compareReleases(before, columnOf(shifted), { seed: 1, labelled: null }).isChanged).toBe(
    true,
  );
});

test("two samples of one distribution are seldom called changed, and raised values often", () => {
  // 4.7 % of 300 rounds; of the first 30 it is 5.
  expect(playDrift({ n: 60, raised: 0 }, 120)).toBeLessThanOrEqual(0.1);
  expect(playDrift({ n: 60, raised: 0.25 }, 30)).toBeGreaterThanOrEqual(0.2);
  expect(playDrift({ n: 300, raised: 0.25 }, 8)).toBeGreaterThanOrEqual(0.9);
});

test("the questions of a call share the chance of a false alarm", () => {
  const rows = world(300, (p) => p);
  const shifted = rows.map((row) => ({ ...row, p: Math.round(100 * row.p ** 1.3) / 100 }));
  const changed = (questions: number) =>
    compareReleases(columnOf(rows), columnOf(shifted), { seed: 1, labelled: null, questions })
      .isChanged;
  expect([1, 50].map(changed)).toEqual([true, false]);
  const turned = rows.map((row, index) => (index % 9 === 0 ? { ...row, p: 1 - row.p } : row));
  const options = { thresholds: [], seed: 1 };
  const worse = (questions: number) =>
    compareLabelled(labelled(rows), labelled(turned), { ...options, questions })?.isWorse;
  expect([1, 1000].map(worse)).toEqual([true, false]);
});

test("on labelled records it is known which release is right more often", () => {
  const rows = world(1500, (p) => p);
  const turned = rows.map(({ id, p, truth }, index) => {
    return { id, truth, p: index % 5 === 0 ? Math.round(100 * (1 - p)) / 100 : p };
  });
  const pair = compareLabelled(labelled(rows), labelled(turned), { thresholds: [], seed: 1 });
  expect(pair?.n).toBe(1500);
  expect(pair?.onlyBeforeRight).toBeGreaterThan(pair?.onlyAfterRight ?? 0);
  expect(pair?.pValue).toBeLessThan(0.001);
  expect(pair?.brierDifference.low).toBeGreaterThan(0);
});

test("a skipped record counts as wrong when a threshold is tried on the second release", () => {
  const rows = world(400, () => 1);
  const skips = labelledWith(rows, (index) => {
    return index % 4 === 0 ? { truth: null, skipped: true } : {};
  });
  const locked = { question: "scam", action: "yes", threshold: 0.51, n: 90, wrong: 0 } as const;
  const thresholds = [{ ...locked, maxRisk: 0.05, confidence: 0.95 }];
  const pair = compareLabelled(labelled(rows), labelled(skips), { thresholds, seed: 1 });
  expect(pair?.n).toBe(300);
  expect(pair?.thresholds).toMatchObject([{ verdict: "broken" }]);
});

test("the interval of a difference of very many rows is that of their mean", () => {
  // Brier scores of a yes that is printed with 1, 0.68 and 0.55.
  const printed = [0, 0.1, 0.2].map((brier) => 1 - Math.sqrt(brier));
  const world = Array.from({ length: 60_000 }, (_, i) => ({ id: `r${i}`, p: 1, truth: true }));
  const later = world.map(({ id, truth }, i) => ({ id, p: printed[i % 3] ?? 1, truth }));
  const pair = compareLabelled(labelled(world), labelled(later), { thresholds: [], seed: 1 });
  const { mean, low, high } = pair?.brierDifference ?? { mean: 0, low: 0, high: 0 };
  expect(mean).toBeCloseTo(0.1, 12);
  expect(high - mean).toBeCloseTo((1.96 * Math.sqrt(0.02 / 3)) / Math.sqrt(60_000), 7);
  expect(mean - low).toBeCloseTo(high - mean, 12);
});

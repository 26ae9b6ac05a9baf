import { expect, test } from "vitest";
import { LabelJoin } from "../input/join-labels.ts";
import {
  answersOf,
  columnIn,
  columnOf,
  labelled,
  labelledWith,
  type Row,
  world,
} from "../testing/worlds.ts";
import { playDrift } from "../testing/drift-worlds.ts";
import { seededRandom } from "../math/random.ts";
import { compareLabelled, compareReleases } from "./compare-releases.ts";
import { type LabelledRows, toLabelledRows } from "./labelled-rows.ts";

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
  const options = { thresholds: [] };
  const worse = (lines: number) =>
    compareLabelled(labelled(rows), labelled(turned), { ...options, lines })?.isWorse;
  expect([1, 1000].map(worse)).toEqual([true, false]);
});

test("on labelled records it is known which release is right more often", () => {
  const rows = world(1500, (p) => p);
  const turned = rows.map(({ id, p, truth }, index) => {
    return { id, truth, p: index % 5 === 0 ? Math.round(100 * (1 - p)) / 100 : p };
  });
  const pair = compareLabelled(labelled(rows), labelled(turned), { thresholds: [] });
  expect(pair?.n).toBe(1500);
  expect(pair?.onlyBeforeRight).toBeGreaterThan(pair?.onlyAfterRight ?? 0);
  expect(pair?.pValue).toBeLessThan(0.001);
  expect(pair?.brierDifference.low).toBeGreaterThan(0);
});

test("labels of the records of which one release was surest show no release to be worse", () => {
  // Each release knows half of the records.
  const random = seededRandom(3);
  const [one, other] = [[], []] as [Row[], Row[]];
  for (let at = 0; at < 4000; at += 1) {
    const [isOwn, truth] = [random() < 0.5, random() < 0.95];
    one.push({ id: `r${at}`, p: isOwn ? 0.95 : 0.5, truth });
    other.push({ id: `r${at}`, p: isOwn ? 0.5 : 0.95, truth });
  }
  const compare = (isTaken: (row: Row, at: number) => boolean) => {
    const rowsOf = (rows: Row[]) => {
      const join = new LabelJoin(answersOf(rows));
      for (const [line, row] of rows.entries()) {
        if (!isTaken(one[line] as Row, line)) continue;
        join.add({ line, value: { id: row.id, truth: row.truth } }, "labels");
      }
      return toLabelledRows(columnIn(join));
    };
    return compareLabelled(rowsOf(one), rowsOf(other), { thresholds: [] });
  };
  expect(compare((_, at) => at < 1000)).toMatchObject({ isFair: true, isWorse: false });
  const unfair = compare(({ p }, at) => at < 1000 && p > 0.9);
  expect(unfair).toMatchObject({ isFair: false, isWorse: false });
  expect(unfair?.brierDifference.low).toBeGreaterThan(0);
});

test("a skipped record counts as wrong when a threshold is tried on the second release", () => {
  const rows = world(400, () => 1);
  const skips = labelledWith(rows, (index) => {
    return index % 4 === 0 ? { truth: null, skipped: true } : {};
  });
  const locked = { question: "scam", action: "yes", threshold: 0.51, n: 90, wrong: 0 } as const;
  const thresholds = [{ ...locked, maxRisk: 0.05, confidence: 0.95 }];
  const pair = compareLabelled(labelled(rows), labelled(skips), { thresholds });
  expect(pair?.n).toBe(300);
  expect(pair?.thresholds).toMatchObject([{ verdict: "broken" }]);
});

test("the interval of a difference of very many rows is that of their mean", () => {
  // Brier scores of a yes that is printed with 1, 0.68 and 0.55.
  const printed = [0, 0.1, 0.2].map((brier) => 1 - Math.sqrt(brier));
  const world = Array.from({ length: 60_000 }, (_, i) => ({ id: `r${i}`, p: 1, truth: true }));
  const later = world.map(({ id, truth }, i) => ({ id, p: printed[i % 3] ?? 1, truth }));
  const pair = compareLabelled(labelled(world), labelled(later), { thresholds: [] });
  const { mean, low, high } = pair?.brierDifference ?? { mean: 0, low: 0, high: 0 };
  expect(mean).toBeCloseTo(0.1, 12);
  const half = (1.96 * Math.sqrt(0.02 / 3)) / Math.sqrt(60_000);
  // All rows are labelled, so one more row may be better or worse by 1.
  expect(low).toBeCloseTo(0.1 - half - (0.1 + 1) / 60_000, 5);
  expect(high).toBeCloseTo(0.1 + half + (1 - 0.1) / 60_000, 5);
});

test.each([
  { labels: 30, changedShare: 0.02 },
  { labels: 60, changedShare: 0.02 },
  { labels: 60, changedShare: 0.05 },
])(
  "$labels labels of as many records show what changes $changedShare of others",
  ({ labels, changedShare }) => {
    const rounds = Array.from({ length: 100 }, (_, seed) => {
      const random = seededRandom(seed + 1);
      const rows = Array.from({ length: labels }, (_, at) => ({ id: `r${at}`, p: 1, truth: true }));
      const changedRows = rows.map((row) => ({ ...row, p: random() < changedShare ? 0 : 1 }));
      return compareLabelled(labelled(rows), labelled(changedRows), { thresholds: [] });
    });
    const missed = rounds.filter((pair) => !(pair && pair.brierDifference.high >= changedShare));
    expect(missed.length).toBeLessThanOrEqual(8);
  },
);

test("the intervals of all lines of a call hold together, also if few labels show a rare loss", () => {
  const [lines, n, lossShare] = [12, 200, 0.0195];
  const calls = Array.from({ length: 30 }, (_, seed) => {
    const random = seededRandom(seed + 1);
    return Array.from({ length: lines }, () => {
      const rows = Array.from({ length: n }, (_, at) => ({ id: `r${at}`, p: 1, truth: true }));
      const lossy = rows.map((row) => ({ ...row, p: random() < lossShare ? 0 : 1 }));
      return compareLabelled(labelled(rows), labelled(lossy), { thresholds: [], lines });
    });
  });
  const missed = calls.filter((pairs) =>
    pairs.some((pair) => !(pair && pair.brierDifference.high >= lossShare)),
  );
  // With each line at a level of its own, 22 % of calls.
  expect(missed.length).toBeLessThanOrEqual(2);
});

// 0.97 instead of 0.99 costs little if it is a yes, and saves much in the 2 % that are a no: the mean difference is 0.
test.each([5, 50, 200])("a rare gain that %d labels do not show is no proof of a loss", (n) => {
  const rounds = Array.from({ length: 100 }, (_, seed) => {
    const random = seededRandom(seed + 1);
    const rows = Array.from({ length: n }, (_, at) => ({ id: `r${at}`, truth: random() >= 0.02 }));
    const [before, after] = [0.99, 0.97].map((p) =>
      labelled(rows.map(({ id, truth }) => ({ id, p, truth }))),
    );
    const options = { thresholds: [] };
    return compareLabelled(before as LabelledRows, after as LabelledRows, options);
  });
  const missed = rounds.filter((pair) => !(pair && pair.brierDifference.low <= 1e-12));
  expect(missed.length).toBeLessThanOrEqual(10);
  expect(rounds.filter((pair) => pair?.isWorse).length).toBeLessThanOrEqual(5);
});

test("labels count by their weights in a difference", () => {
  const weighted = (p: (at: number) => number) =>
    labelledWith(
      Array.from({ length: 40 }, (_, at) => ({ id: `r${at}`, p: p(at), truth: true })),
      (at) => ({ weight: at < 10 ? 3 : 1 }),
    );
  const [before, after] = [weighted(() => 1), weighted((at) => (at < 10 ? 0 : 1))];
  const pair = compareLabelled(labelled(before), labelled(after), { thresholds: [] });
  expect(pair?.brierDifference.mean).toBeCloseTo(0.5, 12);
});

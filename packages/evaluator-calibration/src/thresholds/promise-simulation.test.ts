import { beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../math/random.ts";
import { learnThenTest, promiseThresholds } from "./learn-then-test.ts";
import { countRisks } from "./risk-coverage.ts";

const ROUNDS = 600;
// 5 %, and one error of 600 rounds: some worlds are wrong in just above 5 % everywhere.
const MOST_BROKEN = 0.059;
const asked = { maxRisk: 0.05, confidence: 0.95 };
const sizes = [100, 150, 400, 1200, 3200];
const MOST = 3200;

/** A world of printed values with a known risk of being wrong at each. */
interface World {
  /** The share of rows at each hundredth from 0.50. */
  readonly shares: readonly number[];
  readonly wrongAt: (confidence: number) => number;
}

const hundredths = Array.from({ length: 51 }, (_, index) => 50 + index);
const worlds: Record<string, World> = {
  "mostly sure": { shares: hundredths.map((at) => (at - 49) ** 4), wrongAt: (c) => 0.6 * (1 - c) },
  "as printed": { shares: hundredths.map(() => 1), wrongAt: (c) => 1 - c },
  "too sure": { shares: hundredths.map((at) => at - 45), wrongAt: (c) => 1.6 * (1 - c) + 0.01 },
  "right at 5 % everywhere": { shares: hundredths.map(() => 1), wrongAt: () => 0.0501 },
  "wrong at the top": {
    shares: hundredths.map((at) => (at - 49) ** 2),
    wrongAt: (c) => 0.03 + 0.2 * (c - 0.8),
  },
};

// Enough cells that a risk of 0.0501 is still above 5 % when it is rounded to whole cells.
const CELLS = 2 ** 18;

/** What rows of a world are drawn from. */
interface Urn {
  /** Drawn equally often: twice the index of a hundredth, and 1 more where it is wrong. */
  readonly cells: Uint8Array;
  /** The risk of acting at each hundredth and above. */
  readonly risks: readonly number[];
}

function urnOf({ shares, wrongAt }: World): Urn {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const cells = new Uint8Array(CELLS);
  const risks: number[] = [];
  let [end, wrong] = [CELLS, 0];
  for (const [index, at] of [...hundredths.entries()].toReversed()) {
    const count = Math.min(end, Math.ceil((CELLS * (shares[index] ?? 0)) / total));
    const wrongCount = Math.ceil(count * wrongAt(at / 100));
    cells
      .fill(2 * index, end - count, end)
      .fill(2 * index + 1, end - count, end - count + wrongCount);
    end -= count;
    wrong += wrongCount;
    risks[index] = wrong / (CELLS - end);
  }
  return { cells, risks };
}

/** Rows of a printed value each, which are wrong or not. */
interface Rows {
  readonly confidence: Float64Array;
  readonly wrong: Uint8Array;
}

function emptyRows(n: number): Rows {
  return { confidence: new Float64Array(n), wrong: new Uint8Array(n) };
}

// A plain loop over typed arrays that are there: 16 million rows are drawn.
function drawRows({ confidence, wrong }: Rows, { cells }: Urn, random: () => number): void {
  for (let row = 0; row < wrong.length; row += 1) {
    const cell = cells[(CELLS * random()) | 0] as number;
    confidence[row] = (50 + (cell >> 1)) / 100;
    wrong[row] = cell & 1;
  }
}

/** Returns by the number of labels how many promises are made and how many of them are broken. */
function countBroken(urn: Urn): Map<number, { broken: number; promised: number }> {
  const counts = new Map(sizes.map((n) => [n, { broken: 0, promised: 0 }]));
  const random = seededRandom(1);
  const { confidence, wrong } = emptyRows(MOST);
  for (let round = 0; round < ROUNDS; round += 1) {
    drawRows({ confidence, wrong }, urn, random);
    for (const [n, count] of counts) {
      // Any of the rows drawn are as good a draw of their number.
      const rows = [confidence.subarray(0, n), wrong.subarray(0, n)] as const;
      const promise = learnThenTest(...rows, asked);
      if (promise === null) continue;
      count.promised += 1;
      if (riskFrom(urn, promise.threshold) > asked.maxRisk) count.broken += 1;
    }
  }
  return counts;
}

function riskFrom({ risks }: Urn, threshold: number): number {
  return risks[Math.max(0, Math.round(100 * threshold) - 50)] ?? 1;
}

describe.each(Object.keys(worlds))("%s", (name) => {
  let counts: ReturnType<typeof countBroken>;
  beforeAll(() => {
    counts = countBroken(urnOf(worlds[name] as World));
  });

  test.each(sizes)("promises are broken in no more rounds than may be: %i labels", (n) => {
    const { broken, promised } = counts.get(n) ?? { broken: ROUNDS, promised: 0 };
    expect(broken / ROUNDS).toBeLessThanOrEqual(MOST_BROKEN);
    const isEasy = name === "mostly sure" && n >= 1200;
    expect(promised).toBeGreaterThanOrEqual(isEasy ? ROUNDS / 2 : 0);
  });
});

test("the threshold with at most 5 % seen on the same rows breaks its promise often", () => {
  const urn = urnOf(worlds["too sure"] as World);
  const random = seededRandom(1);
  const rows = emptyRows(400);
  let broken = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    drawRows(rows, urn, random);
    const { acted, actedWrong } = countRisks(rows.confidence, rows.wrong);
    const seenRisk = (at: number) => (actedWrong[at] ?? 0) / (acted[at] ?? 0);
    const lowest = hundredths.find((at) => seenRisk(at) <= asked.maxRisk);
    if (riskFrom(urn, (lowest ?? 100) / 100) > asked.maxRisk) broken += 1;
  }
  expect(broken / ROUNDS).toBeGreaterThan(0.3);
});

test("more labels never make a promise rarer, and no number of them is a cliff", () => {
  // Log odds of yes, as printed: half of the records are a yes.
  const urn = urnOf({
    shares: hundredths.map((at) => (at === 100 ? 6 : 100 / (at * (100.5 - at)))),
    wrongAt: (c) => 1 - Math.min(c, 0.997),
  });
  const random = seededRandom(3);
  const counts = [75, 149, 150, 300, 500, 1000];
  const given = counts.map(() => 0);
  const rows = emptyRows(1000);
  for (let round = 0; round < 300; round += 1) {
    drawRows(rows, urn, random);
    for (const [at, n] of counts.entries()) {
      const { confidence, wrong } = rows;
      const found = learnThenTest(confidence.subarray(0, n), wrong.subarray(0, n), asked);
      given[at] = (given[at] ?? 0) + (found === null ? 0 : 1 / 300);
    }
  }
  for (const [at, share] of given.entries())
    expect(share).toBeGreaterThanOrEqual(given[at - 1] ?? 0);
  expect(given.at(-1)).toBeGreaterThan(0.95);
});

test("four actions of a report are seldom broken, because they share the level", () => {
  const urn = urnOf(worlds["right at 5 % everywhere"] as World);
  const random = seededRandom(2);
  let [brokenTogether, brokenAlone] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const actions = ["a", "b", "c", "d"].map((question) => {
      const { confidence, wrong } = emptyRows(300);
      drawRows({ confidence, wrong }, urn, random);
      return { question, action: "yes" as const, sureness: confidence, wrong };
    });
    // Any promise is broken in this world.
    const together = promiseThresholds(actions, asked);
    if (together.some((found) => found !== null)) brokenTogether += 1;
    const alone = actions.map(({ sureness, wrong }) => learnThenTest(sureness, wrong, asked));
    if (alone.some((found) => found !== null)) brokenAlone += 1;
  }
  expect(brokenTogether / ROUNDS).toBeLessThanOrEqual(MOST_BROKEN);
  expect(brokenAlone / ROUNDS).toBeGreaterThan(0.1);
});

test("the first test has a third of the rows that the printed values allow, so a few bad ones at the top end nothing", () => {
  const top = {
    sureness: Array<number>(80).fill(1),
    wrong: [1, 1, 1, ...Array<number>(77).fill(0)],
  };
  expect(learnThenTest(top.sureness, top.wrong, asked)).toBeNull();
  const sureness = [...top.sureness, ...Array<number>(920).fill(0.97)];
  const wrong = [...top.wrong, ...Array<number>(920).fill(0)];
  expect(learnThenTest(sureness, wrong, asked)).toMatchObject({ threshold: 0.97, wrong: 3 });
});

test("no threshold on the other side of 0.5 is tested, named or not", () => {
  const sureness = [...Array<number>(200).fill(0.9), ...Array<number>(200).fill(0.3)];
  const wrong = sureness.map(() => 0);
  for (const more of [{}, { thresholds: [0.9, 0.3] }]) {
    expect(learnThenTest(sureness, wrong, { ...asked, ...more })?.threshold).toBe(0.9);
    const all = learnThenTest(sureness, wrong, { ...asked, ...more, lowest: 0 });
    expect(all?.threshold).toBe(0.3);
  }
});

test("an action that passes every test leaves its share of the level to the others", () => {
  const many = (n: number, wrong: number) => ({
    action: "yes" as const,
    sureness: Array.from({ length: n }, () => 0.98),
    wrong: Array.from({ length: n }, (_, index) => (index < wrong ? 1 : 0)),
  });
  // One wrong of 100 has a p value of 0.037: above half of the level, and below all of it.
  const almost = { question: "b", ...many(100, 1) };
  expect(promiseThresholds([{ question: "a", ...many(200, 30) }, almost], asked)[1]).toBeNull();
  const [first, second] = promiseThresholds([{ question: "a", ...many(200, 1) }, almost], asked);
  expect(first).toMatchObject({ question: "a", threshold: 0.98, acted: 200, wrong: 1 });
  expect(first?.level).toBeCloseTo(0.025, 12);
  expect(second?.level).toBeCloseTo(0.05, 12);
});

test("an action with too few rows for a promise leaves its part of the level to the others before any test", () => {
  const right = (n: number) => ({
    action: "yes" as const,
    sureness: Array.from({ length: n }, () => 0.98),
    wrong: Array.from({ length: n }, () => 0),
  });
  // 59 right rows promise 5 % at the whole level, and 72 at half of it.
  const few = { question: "a", ...right(58) };
  const [none, first] = promiseThresholds([few, { question: "b", ...right(60) }], asked);
  expect([none, first?.level]).toEqual([null, expect.closeTo(0.05, 12)]);
  const larger = promiseThresholds(
    [
      { question: "a", ...right(70) },
      { question: "b", ...right(71) },
    ],
    asked,
  );
  expect(larger).toMatchObject([null, { acted: 71 }]);
  const both = promiseThresholds(
    [
      { question: "a", ...right(72) },
      { question: "b", ...right(72) },
    ],
    asked,
  );
  expect(both.map((found) => found?.acted)).toEqual([72, 72]);
});

test.each([
  { rows: 120, weight: 0.7, heavy: 20 },
  { rows: 150, weight: 0.5, heavy: 75 },
])("$rows rows, $heavy of them heavier, break few promises", ({ rows, weight, heavy }) => {
  const sureness = Array.from({ length: rows }, () => 0.98);
  const weights = sureness.map((_, at) => (at < heavy ? 1 : weight));
  const played = Array.from({ length: 2000 }, (_, seed) => {
    const random = seededRandom(seed + 1);
    const wrong = sureness.map(() => Number(random() < 0.0501));
    return learnThenTest(sureness, wrong, { ...asked, weights });
  });
  expect(played.filter(Boolean).length / 2000).toBeLessThan(MOST_BROKEN);
});

test("weighted rows count by their weight in the tested region only, and a heavy row below it costs nothing", () => {
  const sureness = [...Array<number>(80).fill(0.97), 0.02];
  const wrong = sureness.map(() => 0);
  const weights = [...Array<number>(80).fill(1), 1000];
  expect(learnThenTest(sureness, wrong, { ...asked, weights })).toMatchObject({ acted: 80 });
  const heavy = weights.map((weight, index) => (index === 0 ? 1000 : weight));
  expect(learnThenTest(sureness, wrong, { ...asked, weights: heavy })).toBeNull();
});

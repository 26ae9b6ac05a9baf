import * as fc from "fast-check";
import { expect, test } from "vitest";
import { corpCurve, learnThenTest } from "./index.ts";
import { DEFAULT_SEED } from "./math/random.ts";
import { applyRecalibration } from "./recalibration.ts";
import { toFit } from "./report/recalibration-fits.ts";
import { compareReleases } from "./report/compare-releases.ts";
import { scoreRows } from "./report/score-report.ts";
import { brierScore, logLoss, rocAuc, spiegelhalter } from "./scores/probability-scores.ts";
import { curveOfRows } from "./scores/reliability.ts";
import { columnOf, distributionRows } from "./testing/worlds.ts";
import { clopperPearson } from "./thresholds/intervals.ts";
import { costThreshold, riskCoverage } from "./thresholds/risk-coverage.ts";

const printed = fc.integer({ min: 0, max: 100 }).map((hundredths) => hundredths / 100);
const unrounded = fc.double({ min: 0, max: 1, noNaN: true });

function rowsOf(probability: fc.Arbitrary<number>, minLength = 1) {
  const row = fc.tuple(probability, fc.integer({ min: 0, max: 1 }), fc.integer({ min: 1, max: 9 }));
  return fc.array(row, { minLength, maxLength: 200 });
}

function columns(rows: readonly (readonly [number, number, number])[]) {
  return {
    p: rows.map(([p]) => p),
    truth: rows.map(([, truth]) => truth),
    weights: rows.map(([, , weight]) => weight),
  };
}

interface Columns {
  readonly p: readonly number[];
  readonly truth: readonly number[];
  readonly weights?: readonly number[];
}

function calibrationErrorOf({ p, truth, weights }: Columns) {
  const rows = { p: Float64Array.from(p), cameTrue: truth, weights };
  return curveOfRows(rows, DEFAULT_SEED).calibrationError;
}

function lineAt(p: number, line: Parameters<typeof applyRecalibration>[1]): number {
  return applyRecalibration([p], line)[0] ?? Number.NaN;
}

function costOf({ p, truth, weights }: Columns, costs: { falseAct: number; missedAct: number }) {
  const wrong = truth.map((one) => 1 - one);
  return costThreshold(p, wrong, { ...costs, weights });
}

test("the parts of the Brier score add up to it", () => {
  fc.assert(
    fc.property(rowsOf(fc.oneof(printed, unrounded)), (rows) => {
      const { p, truth, weights } = columns(rows);
      const curve = corpCurve(p, truth, { weights });
      const sum = curve.miscalibration - curve.discrimination + curve.uncertainty;
      expect(Math.abs(curve.brier - sum)).toBeLessThan(1e-12);
      expect(Math.abs(curve.brier - brierScore(p, truth, { weights }))).toBeLessThan(1e-12);
      expect(curve.miscalibration).toBeGreaterThan(-1e-12);
      expect(curve.discrimination).toBeGreaterThan(-1e-12);
    }),
  );
});

test("the curve and the isotonic fit never descend, and have one point a value", () => {
  fc.assert(
    fc.property(rowsOf(fc.oneof(printed, unrounded)), (rows) => {
      const { p, truth } = columns(rows);
      const { points } = corpCurve(p, truth);
      const values = points.map((point) => point.p);
      const heights = points.map((point) => point.observed);
      expect(values).toEqual([...new Set(p)].toSorted((one, other) => one - other));
      expect(heights).toEqual(heights.toSorted((one, other) => one - other));
      const fit = toFit("isotonic", { table: { width: 1, values: p }, truth });
      for (const [i, value] of values.entries()) {
        const [at] = applyRecalibration([value], fit);
        expect(at).toBeCloseTo(heights[i] ?? Number.NaN, 12);
      }
      expect(points.reduce((sum, { n }) => sum + n, 0)).toBe(rows.length);
    }),
  );
});

test("every figure is the same after a shuffle", () => {
  const shuffled = rowsOf(printed, 2).chain((rows) =>
    fc.tuple(
      fc.constant(rows),
      fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([rows, others]) => {
      const [one, other] = [figuresOf(rows), figuresOf(others)];
      expect(other.shape).toBe(one.shape);
      const differences = one.numbers.map((value, i) => Math.abs(value - (other.numbers[i] ?? 0)));
      // Sums in another order may differ in the last of 53 bits, and in nothing that a person reads.
      expect(Math.max(...differences)).toBeLessThan(1e-8);
    }),
  );
});

function figuresOf(rows: readonly (readonly [number, number, number])[]) {
  const { p, truth, weights } = columns(rows);
  const all = {
    brier: brierScore(p, truth),
    skill: corpCurve(p, truth).skill,
    loss: logLoss(p, truth),
    curve: corpCurve(p, truth),
    weightedCurve: corpCurve(p, truth, { weights }),
    calibrationError: calibrationErrorOf({ p, truth }),
    auc: rocAuc(p, truth),
    z: spiegelhalter(p, truth),
    risks: riskCoverage(p, truth),
    promise: learnThenTest(p, truth, { maxRisk: 0.4, confidence: 0.8 }),
    weightedPromise: learnThenTest(p, truth, { maxRisk: 0.4, confidence: 0.8, weights }),
    cost: costOf({ p, truth }, { falseAct: 5, missedAct: 1 }),
    line: toFit("logistic", { table: { width: 1, values: p }, truth }).parameters,
    temperature: toFit("temperature", {
      table: { width: 2, values: Float64Array.from(p.flatMap((value) => [value, 1 - value])) },
      truth,
    }).parameters,
  };
  const numbers: number[] = [];
  const shape = JSON.stringify(all, (_, value: unknown) =>
    typeof value === "number" ? numbers.push(value) : value,
  );
  return { shape, numbers: numbers.map((value) => (Number.isFinite(value) ? value : 0)) };
}

test("a weight is as good as so many rows", () => {
  fc.assert(
    fc.property(rowsOf(printed), (rows) => {
      const { p, truth, weights } = columns(rows);
      const many = columns(rows.flatMap((row) => Array.from({ length: row[2] }, () => row)));
      const figures = (values: ReturnType<typeof columns>, options: { weights?: number[] }) => {
        const given = { p: values.p, truth: values.truth, ...options };
        const curve = corpCurve(given.p, given.truth, options);
        const table = { width: 1, values: given.p };
        return [
          curve.brier,
          logLoss(given.p, given.truth, options).value,
          curve.miscalibration,
          calibrationErrorOf(given).equalWidth,
          lineAt(0.4, toFit("logistic", { table, truth: given.truth, ...options })),
          costOf(given, { falseAct: 2, missedAct: 3 }).cost,
        ];
      };
      const once = figures({ p, truth, weights }, { weights });
      for (const [i, figure] of figures(many, {}).entries()) {
        expect(once[i]).toBeCloseTo(figure, 9);
      }
    }),
  );
});

test("a point of the curve has the share that came true there, beside the monotone estimate", () => {
  const { points } = corpCurve([0.2, 0.2, 0.5, 0.5], [1, 0, 0, 0]);
  expect(points).toEqual([
    { p: 0.2, n: 2, raw: 0.5, observed: 0.25 },
    { p: 0.5, n: 2, raw: 0, observed: 0.25 },
  ]);
});

test("Spiegelhalter's z is above 0 if printed values are too extreme, and below 0 if not extreme enough", () => {
  const truth = Array.from({ length: 100 }, (_, index) => (index < 80 ? 1 : 0));
  const printedAs = (p: number) => spiegelhalter(Array<number>(100).fill(p), truth).z;
  expect(printedAs(0.9)).toBeGreaterThan(2);
  expect(printedAs(0.7)).toBeLessThan(-2);
});

test("equal values are never parted by bins of equal mass", () => {
  const p = [...Array<number>(60).fill(0.2), ...Array<number>(40).fill(0.7)];
  const truth: number[] = p.map((_, index) => (index % 3 === 0 ? 1 : 0));
  const at = (value: number) => {
    const rows = truth.filter((_, index) => p[index] === value);
    return Math.abs(rows.reduce((sum, one) => sum + one, 0) - rows.length * value) / p.length;
  };
  expect(calibrationErrorOf({ p, truth }).equalMass).toBeCloseTo(at(0.2) + at(0.7), 12);
});

test("a bin of equal width holds its right edge, and the first holds 0", () => {
  // 0.1 + 0.2 is a little over 0.3 in binary.
  for (const edge of [0.1, 0.1 + 0.2, 0.6, 0.7, 0.9]) {
    const { equalWidth } = calibrationErrorOf({ p: [edge, edge - 0.001], truth: [1, 0] });
    expect(equalWidth).toBeCloseTo(Math.abs(1 - edge - (edge - 0.001)) / 2, 12);
  }
  const { equalWidth } = calibrationErrorOf({ p: [0, 0.1], truth: [1, 0] });
  expect(equalWidth).toBeCloseTo((1 - 0.1) / 2, 12);
});

test("recalibrated values keep their order, and rows of a choice their sum and their top", () => {
  fc.assert(
    fc.property(
      rowsOf(printed, 5),
      fc.double({ min: 0.25, max: 10, noNaN: true }),
      (rows, heat) => {
        const { p, truth } = columns(rows);
        const line = toFit("logistic", { table: { width: 1, values: p }, truth });
        const step = lineAt(0.8, line) - lineAt(0.3, line);
        expect(step * Math.sign(line.parameters.slope)).toBeGreaterThanOrEqual(0);
        const row = [0.62, 0.3, 0.08, 0];
        const parameters = { temperature: heat };
        const heated = applyRecalibration(row, { kind: "temperature", parameters });
        expect(heated.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
        expect(heated).toEqual(heated.toSorted((one, other) => other - one));
      },
    ),
  );
});

test("no other threshold costs less", () => {
  fc.assert(
    fc.property(rowsOf(printed), (rows) => {
      const { p, truth } = columns(rows);
      const best = costOf({ p, truth }, { falseAct: 5, missedAct: 2 });
      const costAt = (hundredths: number) =>
        rows.reduce((sum, [value, isTrue]) => {
          const isActed = Math.round(100 * value) >= hundredths;
          return sum + (isActed ? 5 * (1 - isTrue) : 2 * isTrue);
        }, 0) / rows.length;
      for (let at = 0; at <= 101; at += 1) expect(costAt(at)).toBeGreaterThan(best.cost - 1e-9);
      const at = Math.round(100 * (best.threshold ?? 1.01));
      expect(costAt(at)).toBeCloseTo(best.cost, 9);
      expect(best.theory).toBe(5 / 7);
    }),
  );
});

test("an exact interval holds the share it was made of", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, share) => {
        const wrong = Math.floor(share * n);
        const { low, high } = clopperPearson(wrong, n);
        expect(low).toBeLessThanOrEqual(wrong / n);
        expect(high).toBeGreaterThanOrEqual(wrong / n);
      },
    ),
  );
});

// The search for 0.96875 of 61 rows tries a value that the rounding of one of two limits had above both.
test.each([29, 61, 125, 253])(
  "an exact interval of %i rows hardly moves if rounding adds to their weights",
  (rows) => {
    const lastBit = 2 ** (Math.floor(Math.log2(rows)) - 52);
    for (let bits = 1; bits <= 20; bits += 1) {
      const some = rows + bits * lastBit;
      expect(clopperPearson(some, some).low).toBeCloseTo(clopperPearson(rows, rows).low, 12);
    }
  },
);

test("the ranked score of two levels is the Brier score", () => {
  fc.assert(
    fc.property(rowsOf(printed), (rows) => {
      const { p, truth } = columns(rows);
      const levels = p.map((value) => [1 - value, value]);
      const scores = scoreRows(distributionRows(levels, truth, { isOrdered: true }));
      expect(scores.levels?.rankedProbability).toBeCloseTo(brierScore(p, truth), 12);
    }),
  );
});

test("samples of equal values lie nowhere apart, and of parted values wholly", () => {
  const columnWith = (values: readonly number[]) =>
    columnOf(values.map((p, i) => ({ id: `r${i}`, p, truth: true })));
  const distance = (one: readonly number[], other: readonly number[]) =>
    compareReleases(columnWith(one), columnWith(other), { seed: 1, labelled: null })
      .kolmogorovSmirnov.distance;
  expect(distance([0.1, 0.2], [0.2, 0.1])).toBe(0);
  expect(distance([0.1, 0.2], [0.7, 0.8, 0.9])).toBe(1);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { brierScore, corpCurve, expectedCalibrationError, logLoss, wilson } from "./statistics.ts";
import { DEFAULT_SEED } from "./math/random.ts";
import {
  betaQuantile,
  binomialAtMost,
  chiSquareCut,
  twoSidedP,
  Z_OF_95,
} from "./math/special-functions.ts";
import { applyRecalibration } from "./recalibration.ts";
import { toFit } from "./report/recalibration-fits.ts";
import { compareLabelled, compareReleases } from "./report/compare-releases.ts";
import { scoreRows } from "./report/score-report.ts";
import { rocAuc, spiegelhalter } from "./scores/probability-scores.ts";
import { curveOfRows } from "./scores/reliability.ts";
import { columnOf, distributionRows, labelled } from "./testing/worlds.ts";
import { clopperPearson } from "./thresholds/intervals.ts";

type Rows = number[][];

interface BooleanGolden {
  readonly p: number[];
  readonly truth: number[];
  readonly weights: number[] | null;
  readonly curve: Rows;
  readonly isotonic: Rows;
  /** Bins, and the error. */
  readonly eceCurve: Rows;
  readonly eceMassCurve: Rows;
  readonly logistic: [number, number];
  readonly spiegelhalter: [number, number];
  readonly [figure: string]: unknown;
}

interface TableGolden {
  readonly P: Rows;
  readonly truth: number[];
  readonly applied: number[];
  readonly [figure: string]: unknown;
}

interface Goldens {
  readonly special: Readonly<Record<string, Rows>>;
  readonly boolean: Readonly<Record<string, BooleanGolden>>;
  readonly choice: TableGolden;
  readonly score: TableGolden;
  readonly counts: {
    readonly clopperPearson: Rows;
    readonly wilson: Rows;
    readonly mcnemar: Rows;
    readonly ks: [number[], number[], number];
    readonly psi: [number[], number[], number];
  };
}

const goldens: Goldens = JSON.parse(
  readFileSync(new URL("../goldens/goldens.json", import.meta.url), "utf8"),
);
const { special, counts, choice, score } = goldens;

/** How far a figure is from the outside one, as a share of it. */
function errorOf(value: number, golden: unknown): number {
  const wanted = Number(golden);
  return Math.abs(value - wanted) / (Math.abs(wanted) || 1);
}

/** Collects the figures that are not the outside ones to nine digits. */
class Misses {
  readonly found: string[] = [];

  /** Of a figure's own size. */
  golden(value: number, golden: unknown, what = "figure"): void {
    if (!(errorOf(value, golden) < 1e-9)) this.#note(value, golden, what);
  }

  /** Of a figure of about size one. */
  near(value: number | undefined, golden: unknown, what = "figure"): void {
    if (!(Math.abs(Number(value) - Number(golden)) < 1e-9)) this.#note(value, golden, what);
  }

  #note(value: number | undefined, golden: unknown, what: string): void {
    this.found.push(`${what} is ${value}, and ${Number(golden)} outside`);
  }
}

test("normal shares and quantiles agree far into their tails", () => {
  const misses = new Misses();
  for (const [x = 0, share] of special["normalCdf"] ?? []) {
    const outside = twoSidedP(x) / 2;
    misses.golden(x < 0 ? outside : 1 - outside, share, `share below ${x}`);
  }
  for (const [share = 0, x = 0] of special["normalQuantile"] ?? []) {
    misses.golden(twoSidedP(x) / 2, Math.min(share, 1 - share), `share beyond ${x}`);
    if (share === 0.975) misses.golden(Z_OF_95, x);
  }
  expect(misses.found).toEqual([]);
});

test("beta and chi-square values are those of their shares, far into the tails", () => {
  const misses = new Misses();
  for (const [x, a = 0, b = 0, share = 0] of special["beta"] ?? []) {
    misses.golden(betaQuantile(share, a, b), x, `beta quantile of ${share}`);
  }
  for (const [x, degrees = 0, share = 0] of special["chiSquare"] ?? []) {
    misses.golden(chiSquareCut(share, degrees), x, `chi-square cut of ${share}`);
  }
  expect(misses.found).toEqual([]);
});

test("binomial tails agree where others print 0", () => {
  const misses = new Misses();
  const smallest = Math.min(...(special["binomial"] ?? []).map((row) => row[3] ?? 1));
  expect(smallest).toBeLessThan(4.7e-13);
  for (const [k = 0, n = 0, p = 0, atMost, atLeast] of special["binomial"] ?? []) {
    misses.golden(binomialAtMost(k, n, p), atMost, `P(X <= ${k} of ${n})`);
    misses.golden(binomialAtMost(n - k, n, 1 - p), atLeast, `P(X >= ${k} of ${n})`);
  }
  expect(misses.found).toEqual([]);
});

test("chi-square cuts agree", () => {
  const misses = new Misses();
  for (const [degrees = 0, cut] of special["chiSquareCut"] ?? []) {
    misses.golden(chiSquareCut(0.05, degrees), cut);
  }
  expect(misses.found).toEqual([]);
});

test.each(Object.entries(goldens.boolean))("yes/no figures agree: %s", (_, golden) => {
  const misses = new Misses();
  const { p, truth } = golden;
  const weights = golden.weights ?? undefined;
  const rows = [p, truth, { weights }] as const;
  const loss = logLoss(...rows);
  const curve = corpCurve(...rows);
  const roc = rocAuc(...rows);
  misses.golden(curve.brier, golden["brier"]);
  misses.golden(curve.skill, golden["skill"]);
  misses.golden(brierScore(...rows), golden["brier"]);
  misses.golden(loss.value, golden["logLoss"]);
  misses.golden(logLoss(p, truth, { weights, clip: 1e-9 }).value, golden["logLossClippedLess"]);
  expect([loss.clipped, loss.clippedAndWrong]).toEqual([
    golden["clipped"],
    golden["clippedAndWrong"],
  ]);
  misses.golden(roc.auc, golden["auc"]);
  misses.near(curve.miscalibration, golden["miscalibration"]);
  misses.near(curve.discrimination, golden["discrimination"]);
  misses.near(curve.uncertainty, golden["uncertainty"]);
  expect(curve.points).toHaveLength(golden.curve.length);
  for (const [i, [value, observed]] of golden.curve.entries()) {
    expect(curve.points[i]?.p).toBe(value);
    misses.near(curve.points[i]?.observed, observed, `curve at ${value}`);
  }
  const banded = curveOfRows({ p: Float64Array.from(p), cameTrue: truth, weights }, DEFAULT_SEED);
  misses.near(banded.calibrationError.equalWidth, golden["ece10"], "ECE");
  misses.near(expectedCalibrationError(...rows), golden["ece10"], "ECE of rows");
  const byBinning = { width: golden.eceCurve, mass: golden.eceMassCurve };
  for (const binning of ["width", "mass"] as const) {
    for (const [bins, error] of byBinning[binning]) {
      const options = { weights, bins, binning };
      misses.near(expectedCalibrationError(p, truth, options), error, `ECE of ${bins} ${binning}`);
    }
  }
  const table = { width: 1, values: p };
  const line = toFit("logistic", { table, truth, weights });
  misses.near(line.parameters.intercept, golden.logistic[0], "intercept");
  misses.near(line.parameters.slope, golden.logistic[1], "slope");
  const curveFit = toFit("isotonic", { table, truth, weights });
  for (const [x = 0, y] of golden.isotonic) {
    misses.near(applyRecalibration([x], curveFit)[0], y, `isotonic at ${x}`);
  }
  const odds = golden.logistic[0] + golden.logistic[1] * Math.log(0.3 / 0.7);
  misses.near(applyRecalibration([0.3], line)[0], 1 / (1 + Math.exp(-odds)));
  expect(misses.found).toEqual([]);
  if (weights !== undefined) return; // the textbook forms below know no weights
  misses.golden(roc.standardError, golden["aucError"]);
  const test = spiegelhalter(p, truth);
  misses.golden(test.z, golden.spiegelhalter[0]);
  misses.golden(test.pValue, golden.spiegelhalter[1]);
  const { equalMass } = banded.calibrationError;
  misses.near(equalMass, golden["eceMass10"] ?? equalMass, "ECE by mass");
  expect(misses.found).toEqual([]);
});

test.each([
  ["choice", choice],
  ["score", score],
])("figures of a %s agree", (_, golden) => {
  const misses = new Misses();
  const { P, truth } = golden;
  const scores = scoreRows(distributionRows(P, truth, { isOrdered: false }));
  misses.golden(scores.brier, golden["brier"]);
  misses.golden(scores.logLoss.value, golden["logLoss"]);
  const { levels } = scoreRows(distributionRows(P, truth, { isOrdered: true }));
  misses.golden(levels?.rankedProbability ?? Number.NaN, golden["rps"]);
  misses.golden(levels?.meanAbsoluteError ?? Number.NaN, golden["meanAbsoluteError"]);
  const table = { width: P[0]?.length ?? 0, values: Float64Array.from(P.flat()) };
  const fit = toFit("temperature", { table, truth });
  misses.golden(fit.parameters.temperature, golden["temperature"]);
  const heated = (row: readonly number[]) => applyRecalibration(row, fit);
  const losses = P.map((row, i) => -Math.log(heated(row)[truth[i] ?? 0] ?? 0));
  const loss = losses.reduce((sum, one) => sum + one, 0) / P.length;
  misses.golden(loss, golden["temperatureLoss"]);
  const applied = heated(P[0] ?? []);
  for (const [i, share] of applied.entries()) misses.near(share, golden.applied[i]);
  expect(misses.found).toEqual([]);
});

test("intervals of counts agree", () => {
  const misses = new Misses();
  for (const [wrong = 0, n = 0, low, high] of counts.clopperPearson) {
    const interval = clopperPearson(wrong, n);
    misses.near(interval.low, low);
    misses.near(interval.high, high);
  }
  for (const [wrong = 0, n = 0, low, high] of counts.wilson) {
    const interval = wilson(wrong, n);
    misses.near(interval.low, low);
    misses.near(interval.high, high);
  }
  expect(misses.found).toEqual([]);
});

test("comparisons of releases agree", () => {
  const misses = new Misses();
  const always = { id: "both", p: 0.9, truth: true };
  for (const [first = 0, second = 0, pValue] of counts.mcnemar) {
    const printed = [...Array<number>(first).fill(0.9), ...Array<number>(second).fill(0.1)];
    const [before, after] = [(p: number) => p, (p: number) => 1 - p].map((release) =>
      labelled([always, ...printed.map((p, i) => ({ id: `r${i}`, p: release(p), truth: true }))]),
    );
    const pair = before && after && compareLabelled(before, after, { thresholds: [] });
    misses.golden(pair?.pValue ?? Number.NaN, pValue);
  }
  const columnWith = (values: readonly number[]) =>
    columnOf(values.map((p, i) => ({ id: `r${i}`, p, truth: true })));
  const compared = (one: readonly number[], other: readonly number[]) =>
    compareReleases(columnWith(one), columnWith(other), { seed: 1, labelled: null });
  const [a, b, distance] = counts.ks;
  misses.golden(compared(a, b).kolmogorovSmirnov.distance, distance);
  const [expected, actual, index] = counts.psi;
  const rowsOf = (shares: number[]) =>
    shares.flatMap((share, value) => Array<number>(Math.round(100 * share)).fill(value / 10));
  misses.golden(compared(rowsOf(expected), rowsOf(actual)).stability.index, index);
  expect(misses.found).toEqual([]);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as calibration from "./index.ts";
import {
  binomialAtLeast,
  binomialAtMost,
  chiSquareAbove,
  chiSquareCut,
  incompleteBeta,
  normalCdf,
  normalQuantile,
} from "./math/special-functions.ts";
import { logOdds } from "./recalibration/logistic.ts";

type Rows = number[][];

interface BooleanGolden {
  readonly p: number[];
  readonly truth: number[];
  readonly weights: number[] | null;
  readonly curve: Rows;
  readonly isotonic: Rows;
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
    readonly holm: [number[], number[]];
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

test.each([
  ["normalCdf", normalCdf],
  ["normalQuantile", normalQuantile],
  ["beta", incompleteBeta],
  ["chiSquare", chiSquareAbove],
] as const)("%s agrees far into its tails", (name, compute) => {
  const misses = new Misses();
  for (const row of special[name] ?? []) {
    const [x = 0, a = 0, b = 0] = row;
    misses.golden(compute(x, a, b), row.at(-1), `${name}(${x}, ${a}, ${b})`);
  }
  expect(misses.found).toEqual([]);
});

test("binomial tails agree where others print 0", () => {
  const misses = new Misses();
  const smallest = Math.min(...(special["binomial"] ?? []).map((row) => row[3] ?? 1));
  expect(smallest).toBeLessThan(4.7e-13);
  for (const [k = 0, n = 0, p = 0, atMost, atLeast] of special["binomial"] ?? []) {
    misses.golden(binomialAtMost(k, n, p), atMost, `P(X <= ${k} of ${n})`);
    misses.golden(binomialAtLeast(k, n, p), atLeast, `P(X >= ${k} of ${n})`);
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
  const loss = calibration.logLoss(...rows);
  const curve = calibration.corpCurve(...rows);
  const roc = calibration.rocAuc(...rows);
  misses.golden(calibration.brierScore(...rows), golden["brier"]);
  misses.golden(calibration.brierSkill(...rows), golden["skill"]);
  misses.golden(loss.value, golden["logLoss"]);
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
  for (const bins of [10, 15, 100]) {
    const error = calibration.expectedCalibrationError(p, truth, { bins, weights });
    misses.near(error, golden[`ece${bins}`], `ECE of ${bins}`);
  }
  const line = calibration.fitLogistic(...rows);
  misses.near(line.intercept, golden.logistic[0], "intercept");
  misses.near(line.slope, golden.logistic[1], "slope");
  const isotonic = calibration.fitIsotonic(...rows);
  for (const [x = 0, y] of golden.isotonic) {
    misses.near(calibration.applyIsotonic(x, isotonic), y, `isotonic at ${x}`);
  }
  const odds = golden.logistic[0] + golden.logistic[1] * logOdds(0.3);
  misses.near(calibration.applyLogistic(0.3, line), 1 / (1 + Math.exp(-odds)));
  expect(misses.found).toEqual([]);
  if (weights !== undefined) return; // the textbook forms below know no weights
  misses.golden(roc.standardError, golden["aucError"]);
  const test = calibration.spiegelhalter(p, truth);
  misses.golden(test.z, golden.spiegelhalter[0]);
  misses.golden(test.pValue, golden.spiegelhalter[1]);
  const options = { bins: 7, binning: "mass" } as const;
  const byMass = calibration.expectedCalibrationError(p, truth, options);
  misses.near(byMass, golden["eceMass7"] ?? byMass);
  expect(misses.found).toEqual([]);
});

test.each([
  ["choice", choice],
  ["score", score],
])("figures of a %s agree", (_, golden) => {
  const misses = new Misses();
  const { P, truth } = golden;
  misses.golden(calibration.brierScoreOfChoice(P, truth), golden["brier"]);
  misses.golden(calibration.logLossOfChoice(P, truth).value, golden["logLoss"]);
  misses.golden(calibration.rankedProbabilityScore(P, truth), golden["rps"]);
  const fit = calibration.fitTemperature(P, truth);
  misses.golden(fit.temperature, golden["temperature"]);
  misses.golden(fit.logLoss, golden["temperatureLoss"]);
  const applied = calibration.applyTemperature(P[0] ?? [], fit.temperature);
  for (const [i, share] of applied.entries()) misses.near(share, golden.applied[i]);
  expect(misses.found).toEqual([]);
});

test("intervals of counts agree", () => {
  const misses = new Misses();
  for (const [wrong = 0, n = 0, low, high] of counts.clopperPearson) {
    const interval = calibration.clopperPearson(wrong, n);
    misses.near(interval.low, low);
    misses.near(interval.high, high);
  }
  for (const [wrong = 0, n = 0, low, high] of counts.wilson) {
    const interval = calibration.wilson(wrong, n);
    misses.near(interval.low, low);
    misses.near(interval.high, high);
  }
  expect(misses.found).toEqual([]);
});

test("comparisons of releases agree", () => {
  const misses = new Misses();
  for (const [first = 0, second = 0, pValue] of counts.mcnemar) {
    misses.golden(calibration.mcnemarExact(first, second), pValue);
  }
  const [pValues, adjusted] = counts.holm;
  for (const [i, value] of calibration.holm(pValues).entries()) misses.golden(value, adjusted[i]);
  const [a, b, distance] = counts.ks;
  misses.golden(calibration.kolmogorovSmirnov(a, b), distance);
  const [expected, actual, index] = counts.psi;
  misses.golden(calibration.populationStabilityIndex(expected, actual), index);
  expect(misses.found).toEqual([]);
});

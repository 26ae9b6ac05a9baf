import { expect, test } from "vitest";
import {
  brierScore,
  corpCurve,
  expectedCalibrationError,
  labelsForZeroErrors,
  learnThenTest,
  logLoss,
  rocAuc,
} from "./statistics.ts";
import { neededLabels } from "./thresholds/intervals.ts";
import { conformalRiskControl, costThreshold, riskCoverage } from "./thresholds/risk-coverage.ts";

test.each([rocAuc, corpCurve, brierScore, logLoss, expectedCalibrationError])(
  "%o names the index of what is no row",
  (figure) => {
    expect(() => figure([0.1, Number.NaN], [0, 1])).toThrow(
      new RangeError("p[1] is NaN; it must be a number from 0 to 1."),
    );
    expect(() => figure([0.1, 0.2, 1.01], [0, 1, 1])).toThrow("p[2] is 1.01");
    expect(() => figure([0.1, 0.2], [0, 2])).toThrow("truth[1] is 2; it must be 0 or 1.");
    expect(() => figure([0.1, 0.2], [0])).toThrow("index 1 is in one of them only");
    expect(() => figure([], [])).toThrow("at least one row");
    expect(() => figure([0.1, 0.2], [0, Number.NaN])).toThrow(RangeError);
  },
);

test("weights have to be positive and as many as rows", () => {
  expect(() => corpCurve([0.5, 0.5], [0, 1], { weights: [1, 0] })).toThrow("weights[1] is 0");
  expect(() => riskCoverage([0.5], [0], { weights: [1, 1] })).toThrow("index 1");
});

test("bins and a clip that cannot be are named", () => {
  const error = (options: object) => () => expectedCalibrationError([0.5], [1], options);
  for (const bins of [0, 1.5, Number.NaN, -3]) {
    expect(error({ bins })).toThrow(
      new RangeError(`bins is ${bins}; it must be a whole number from 1 up.`),
    );
  }
  expect(error({ binning: "toString" })).toThrow(
    'binning is toString; it must be "width" or "mass".',
  );
  expect(error({ bins: 1e9 })()).toBe(0.5);
  for (const clip of [0, 0.5, Number.NaN]) {
    expect(() => logLoss([0.5], [1], { clip })).toThrow(`clip is ${clip}; it must be`);
  }
});

test("a figure that one kind of truth cannot give is NaN, not a number that looks like one", () => {
  expect(corpCurve([0.2, 0.3], [0, 0]).skill).toBeNaN();
  expect(rocAuc([0.2, 0.3], [1, 1]).auc).toBeNaN();
});

test("the sizes of the design", () => {
  expect(labelsForZeroErrors({ maxRisk: 0.05, confidence: 0.95 })).toBe(59);
  // If 2 % are wrong, 234 labels promise 5 % in 80 of 100 cases.
  expect(neededLabels({ maxRisk: 0.05, confidence: 0.95 }, 1)).toEqual({
    forPromiseWithoutErrors: 59,
    forPromise: 234,
  });
});

test("thresholds are compared as printed: 0.83 of a sum of parts is 0.83", () => {
  const sum = 0.1 + 0.73;
  expect(riskCoverage([sum, 0.83, 0.8299999999999], [0, 1, 0])).toMatchObject([
    { threshold: 0.83, acted: 3, wrong: 1, coverage: 1 },
  ]);
  expect(
    learnThenTest(Array(59).fill(0.57), Array(59).fill(0), { maxRisk: 0.05, thresholds: [0.57] }),
  ).toMatchObject({ threshold: 0.57, acted: 59, wrong: 0 });
});

test("58 rows without an error promise no 5 %, 59 do", () => {
  const promise = (n: number) =>
    learnThenTest(Array(n).fill(1), Array(n).fill(0), { maxRisk: 0.05, confidence: 0.95 });
  expect(promise(58)).toBeNull();
  expect(promise(59)).toMatchObject({ threshold: 1, acted: 59, wrong: 0 });
});

test("the first threshold that fails ends the search, whatever comes below", () => {
  const confidence = [...Array<number>(100).fill(1), ...Array<number>(900).fill(0.9)];
  const wrong = confidence.map((_, index) => (index < 20 ? 1 : 0));
  expect(learnThenTest(confidence, wrong, { maxRisk: 0.05, thresholds: [1, 0.9] })).toBeNull();
  expect(learnThenTest(confidence, wrong, { maxRisk: 0.05, thresholds: [0.9] })).toMatchObject({
    acted: 1000,
    wrong: 20,
  });
});

test("control on average counts one more wrong row, and is null where that is too many", () => {
  const confidence = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
  const wrong = [0, 0, 0, 1, 0, 0, 0, 0, 0];
  expect(conformalRiskControl(confidence, wrong, { maxRisk: 0.2 })).toBe(0.1);
  expect(conformalRiskControl(confidence, wrong, { maxRisk: 0.1 })).toBe(0.7);
  expect(conformalRiskControl(confidence, wrong, { maxRisk: 0.09 })).toBeNull();
});

test("where no act pays, never acting is the threshold", () => {
  expect(costThreshold([0.9, 0.8], [1, 1], { falseAct: 1, missedAct: 1 })).toEqual({
    threshold: null,
    cost: 0,
    theory: 0.5,
  });
  expect(() => costThreshold([0.9], [1], { falseAct: 0, missedAct: 1 })).toThrow("falseAct is 0");
});

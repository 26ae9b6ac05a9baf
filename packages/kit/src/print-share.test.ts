import { expect, test } from "vitest";
import {
  percent,
  percentRange,
  printRange,
  printAtLeast,
  printDown,
  printAtMost,
  printPValue,
  printSigned,
  printThreshold,
} from "./print-share.ts";

test.each([
  [0.05, "5 %", "5 %"],
  [0.0049, "0.49 %", "0.49 %"],
  [0.014, "1.4 %", "1.4 %"],
  [0.35, "35 %", "35 %"],
  [1 - 0.999, "0.1 %", "0.1 %"],
  [0.01234567, "1.2346 %", "1.2345 %"],
  [0.01234511, "1.2346 %", "1.2345 %"],
  [0.9999999, "100 %", "99.9999 %"],
])("%s is at most %s and at least %s", (share, most, least) => {
  expect([printAtMost(share), printAtLeast(share)]).toEqual([most, least]);
});

test.each([
  [0, "0 %"],
  [-0.001, "0 %"],
  [0.004, "< 1 %"],
  [0.25, "25 %"],
  [0.999, "> 99 %"],
  [1, "100 %"],
  [-12.3, "-1,230 %"],
  [Number.NaN, "–"],
])("the estimate %s is %s", (share, printed) => {
  expect(percent(share)).toBe(printed);
});

test.each([
  [0, "0.0 %"],
  [0.0004, "< 0.1 %"],
  [0.0006, "0.1 %"],
  [0.9996, "> 99.9 %"],
  [1, "100.0 %"],
])("the estimate %s with a decimal is %s", (share, printed) => {
  expect(percent(share, 1)).toBe(printed);
});

test.each([
  [0, 0.004, "0 % to 1 %"],
  [0.29, 0.57, "29 % to 57 %"],
  [0.991, 1, "99 % to 100 %"],
  [-0.004, 0.1, "-1 % to 10 %"],
  [Number.NaN, Number.NaN, "– to –"],
])("the interval from %s to %s is %s", (low, high, printed) => {
  expect(percentRange({ low, high })).toBe(printed);
});

test.each([
  [0.0496, 0.0504, "4.9 % to 5.1 %", "0.04 to 0.06"],
  [0.05, 0.29, "5.0 % to 29.0 %", "0.05 to 0.29"],
  [0.9996, 1, "99.9 % to 100.0 %", "0.99 to 1.00"],
])("from %s to %s with decimals is %s and %s", (low, high, shares, values) => {
  expect(percentRange({ low, high }, 1)).toBe(shares);
  expect(printRange({ low, high })).toBe(values);
});

test.each([
  [{ value: 0.017, low: 0.013, high: 0.02 }, "1.7 % (1.3 % to 2.0 %)"],
  [{ value: 0.0202, low: 0.0201, high: 0.09 }, "2.02 % (2.01 % to 9.00 %)"],
  [{ value: 0.03, low: 0.03, high: 0.03 }, "3 % (3 % to 3 %)"],
  [{ value: 1, low: 0.962, high: 1 }, "100 % (96 % to 100 %)"],
  [{ value: 0.998, low: 0.996, high: 0.9999 }, "> 99 % (99 % to 100 %)"],
  [{ value: 0.4, low: 0.31, high: 0.5 }, "40 % (31 % to 50 %)"],
  [{ value: 0.4, low: Number.NaN, high: Number.NaN }, "40 % (– to –)"],
])("the estimate %o is unlike the ends of its interval that differ: %s", (estimate, printed) => {
  expect(`${percent(estimate)} (${percentRange(estimate)})`).toBe(printed);
});

test("a value of which more is better is rounded down", () => {
  expect([0.29, 0.9973, 19.996, 1].map(printDown)).toEqual(["0.29", "0.99", "19.99", "1.00"]);
  expect(printDown(Number.NaN)).toBe("–");
});

test("a p-value is never 0, and a threshold is never printed below itself", () => {
  expect([printPValue(0.0004), printPValue(0.04)]).toEqual(["p < 0.001", "p 0.040"]);
  const least = [1 / 400, 2 / 400].map((pValue) => printPValue(pValue, 1 / 400));
  expect(least).toEqual(["p ≤ 0.003", "p 0.005"]);
  expect([printPValue(1 / 1000, 1 / 1000), printPValue(0.00041, 0.0005)]).toEqual([
    "p ≤ 0.001",
    "p < 0.001",
  ]);
  expect([printThreshold(0.97), printThreshold(0.975)]).toEqual(["0.97", "0.9750"]);
  expect([printThreshold(0.99751), printThreshold(0.29)]).toEqual(["0.9976", "0.29"]);
});

test.each([
  [0.25, 1, "+0.3"],
  [-0.25, 2, "−0.25"],
  [-0.00001, 4, "0.0000"],
])("%s has its sign with %s decimals: %s", (value, decimals, printedText) => {
  expect(printSigned(value, decimals)).toBe(printedText);
});

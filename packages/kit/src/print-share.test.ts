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

test("a value of which more is better is rounded down", () => {
  expect([0.29, 0.9973, 19.996, 1].map(printDown)).toEqual(["0.29", "0.99", "19.99", "1.00"]);
  expect(printDown(Number.NaN)).toBe("–");
});

test("a p-value is never 0, and a threshold is never printed below itself", () => {
  expect([printPValue(0.0004), printPValue(0.04)]).toEqual(["p < 0.001", "p 0.040"]);
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

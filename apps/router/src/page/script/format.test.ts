import { expect, test } from "vitest";
import { duration, percent, tokens, usd, usdLeft } from "./elements.ts";

test("a printed 1 and a printed 0 are not certain", () => {
  expect([1, 0.996, 0.97, 0.005, 0.004, 0].map(percent)).toEqual([
    "> 99 %",
    "> 99 %",
    "97 %",
    "1 %",
    "< 1 %",
    "< 1 %",
  ]);
});

test("times are in milliseconds, then in seconds", () => {
  expect([0, 999, 1000, 12_345].map(duration)).toEqual(["0 ms", "999 ms", "1.0 s", "12.3 s"]);
});

test("small prices keep two digits, and an unknown one is no zero", () => {
  expect([0.000014, 0.0123, 1.5, 0, null].map(usd)).toEqual([
    "$0.000014",
    "$0.012",
    "$1.5",
    "$0",
    "unknown",
  ]);
});

test("the rest of a budget is rounded down", () => {
  expect([0.75, 19.999, 0.00498769, 0].map(usdLeft)).toEqual(["$0.75", "$19.9", "$0.00498", "$0"]);
});

test("an unknown number of tokens is a question mark", () => {
  expect([1234, null].map(tokens)).toEqual(["1,234", "?"]);
});

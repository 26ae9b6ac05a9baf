import { expect, test } from "vitest";
import { compareRounds, summarise } from "./summary.ts";

test("sums up by the middle, the quartiles and the ends, in any order", () => {
  expect(summarise([5, 1, 3, 2, 4])).toEqual({
    median: 3,
    lowerQuartile: 2,
    upperQuartile: 4,
    min: 1,
    max: 5,
  });
});

test("one slow round moves neither the median nor the values given", () => {
  const values = [10, 11, 900];
  expect(summarise(values).median).toBe(11);
  expect(values).toEqual([10, 11, 900]);
});

test("compares round by round, so that what slows both changes nothing", () => {
  const ratio = compareRounds([20, 200, 30], [10, 100, 15]);
  expect(ratio).toMatchObject({ median: 2, min: 2, max: 2 });
});

test("refuses series of which one has a round more", () => {
  expect(() => compareRounds([1, 2], [1])).toThrow("differ in length");
});

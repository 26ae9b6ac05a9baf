import { expect, test } from "vitest";
import {
  compareRounds,
  summarise,
  rotate,
  printNumber,
  printSummary,
  printTable,
} from "./figures.ts";

test("sums up by the middle, and the quartiles, in any order", () => {
  expect(summarise([5, 1, 3, 2, 4])).toEqual({
    median: 3,
    lowerQuartile: 2,
    upperQuartile: 4,
  });
});

test("one slow round moves neither the median nor the values given", () => {
  const values = [10, 11, 900];
  expect(summarise(values).median).toBe(11);
  expect(values).toEqual([10, 11, 900]);
});

test("compares round by round, so that what slows both changes nothing", () => {
  const ratio = compareRounds([20, 200, 30], [10, 100, 15]);
  expect(ratio).toMatchObject({ median: 2, lowerQuartile: 2, upperQuartile: 2 });
});

test("refuses series of which one has a round more", () => {
  expect(() => compareRounds([1, 2], [1])).toThrow("differ in length");
});

test("begins with another item in each round and leaves none out", () => {
  const rounds = [0, 1, 2, 3].map((round) => rotate(["a", "b", "c"], round).join(""));
  expect(rounds).toEqual(["abc", "bca", "cab", "abc"]);
  expect(rotate([], 4)).toEqual([]);
});

test.each([
  [0.314159, "0.31"],
  [1, "1.00"],
  [12.345, "12.3"],
  [123.4, "123"],
  [12_345.6, "12,346"],
  [-45.67, "-45.7"],
])("prints %d as %s", (value, text) => {
  expect(printNumber(value)).toBe(text);
});

test("prints a median with its quartiles", () => {
  const summary = { median: 1.004, lowerQuartile: 0.98, upperQuartile: 1.1 };
  expect(printSummary(summary, "×")).toBe("1.00× (0.98–1.10)");
});

test("prints a table as Markdown, numbers to the right", () => {
  const rows = [
    ["undici", "96"],
    ["fetch", "338"],
  ];
  const table = { title: "Calls", columns: ["", "CPU µs"], rows, note: "Medians." };
  expect(printTable(table)).toMatchInlineSnapshot(`
    "Calls

    |        | CPU µs |
    | :----- | -----: |
    | undici |     96 |
    | fetch  |    338 |

    Medians.

    "
  `);
});

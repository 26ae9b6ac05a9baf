import { expect, test } from "vitest";
import { printNumber, printSummary } from "./print-number.ts";
import { printTable } from "./print-table.ts";

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
  const summary = { median: 1.004, lowerQuartile: 0.98, upperQuartile: 1.1, min: 0.9, max: 9 };
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

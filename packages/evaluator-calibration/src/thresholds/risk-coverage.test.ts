import { expect, test } from "vitest";
import { complement, riskCoverage } from "./risk-coverage.ts";

test("risk is a share of the acted-on rows, and coverage of all rows", () => {
  const [high, low] = riskCoverage([0.9, 0.9, 0.8, 0.8], [0, 1, 0, 0]);
  expect(high).toMatchObject({ threshold: 0.9, acted: 2, wrong: 1, risk: 0.5, coverage: 0.5 });
  expect(low).toMatchObject({ threshold: 0.8, acted: 4, wrong: 1, risk: 0.25, coverage: 1 });
});

test("the complement of a printed value is the number that is printed", () => {
  const printed = Array.from({ length: 101 }, (_, at) => at / 100);
  expect(printed.map(complement)).toEqual(printed.map((_, at) => (100 - at) / 100));
});

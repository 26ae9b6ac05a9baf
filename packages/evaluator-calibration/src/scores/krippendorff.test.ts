import { expect, test } from "vitest";
import { krippendorffAlpha } from "./krippendorff.ts";

const isOther = (one: number, other: number) => Number(one !== other);

// Twelve records of four labelers, of Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
const records = [
  [1, 1, 1],
  [2, 2, 3, 2],
  [3, 3, 3, 3],
  [3, 3, 3, 3],
  [2, 2, 2, 2],
  [1, 2, 3, 4],
  [4, 4, 4, 4],
  [1, 1, 2, 1],
  [2, 2, 2, 2],
  [5, 5, 5],
  [1, 1],
  [3],
];

test("alpha of options and of levels is that of its author's example", () => {
  expect(krippendorffAlpha(records, isOther)?.value).toBeCloseTo(0.743, 3);
  expect(krippendorffAlpha(records, (one, other) => (one - other) ** 2)?.value).toBeCloseTo(
    0.849,
    3,
  );
});

test("few records have no alpha, few of the rarer labels no interval, and full agreement has a lower limit", () => {
  const many = (n: number, labels: readonly number[]) => Array.from({ length: n }, () => labels);
  expect(krippendorffAlpha(many(9, [0, 1]), isOther)).toBeNull();
  expect(krippendorffAlpha(many(50, [1, 1]), isOther)).toBeNull();
  const rare = krippendorffAlpha([...many(50, [0, 0]), ...many(9, [1, 1])], isOther);
  expect(rare).toEqual({ value: 1, low: Number.NaN, high: Number.NaN });
  const full = krippendorffAlpha([...many(50, [0, 0]), ...many(50, [1, 1])], isOther);
  expect(full).toMatchObject({ value: 1, high: 1 });
  expect(full?.low).toBeCloseTo(1 - 0.03622 / 0.5, 4);
});

test("ten records with the rarer label have an interval, of however many; nine have none", () => {
  const hasLimits = (rarer: number, n: number) => {
    const made = Array.from({ length: n }, (_, at) => Array<number>(2).fill(Number(at < rarer)));
    return !Number.isNaN(krippendorffAlpha(made, isOther)?.low);
  };
  for (const n of [30, 70, 100, 290])
    expect([hasLimits(10, n), hasLimits(9, n)]).toEqual([true, false]);
});

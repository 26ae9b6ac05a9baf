import { expect, test } from "vitest";
import { type Stratum, stratifiedInterval } from "./stratified-interval.ts";

const logOf = (count: number, share: number) => (count === 0 ? 0 : count * Math.log(share));
const likelihood = ({ n, hits }: Stratum, q: number) => logOf(hits, q) + logOf(n - hits, 1 - q);

/** Returns the lowest and the highest share of a fine grid of both strata's shares that the test does not reject. */
function searchGrid(strata: readonly [Stratum, Stratum], certaintyOf: (one: Stratum) => number) {
  const steps = 2000;
  const [first, second] = strata.map((one) =>
    Float64Array.from({ length: steps + 1 }, (_, at) => {
      const best = likelihood(one, one.hits / one.n);
      return 2 * certaintyOf(one) * (best - likelihood(one, at / steps));
    }),
  ) as [Float64Array, Float64Array];
  const shares = strata.map(({ records }) => records / (strata[0].records + strata[1].records));
  const kept = [...first.keys()].flatMap((i) => {
    const isKept = (lost: number) => (first[i] as number) + lost <= 4.4;
    const ends = [second.findIndex(isKept), second.findLastIndex(isKept)];
    if (ends[0] === -1) return [];
    return ends.map((j) => ((shares[0] as number) * i + (shares[1] as number) * j) / steps);
  });
  return { low: Math.min(...kept), high: Math.max(...kept) };
}

test.each([
  [
    { records: 900, n: 45, hits: 45 },
    { records: 100, n: 50, hits: 25 },
  ],
  [
    { records: 400, n: 20, hits: 3 },
    { records: 600, n: 80, hits: 0 },
  ],
] as const)("the limits of %j and %j are those of the likelihood ratio test", (...strata) => {
  const alike = stratifiedInterval(strata, "alike");
  const grid = searchGrid(strata, ({ n }) => (n - 1) / n);
  expect(Math.abs(alike.low - grid.low)).toBeLessThan(0.001);
  expect(Math.abs(alike.high - grid.high)).toBeLessThan(0.001);
  const these = stratifiedInterval(strata, "these");
  const rest = searchGrid(strata, ({ n, records }) => (n - 1) / n / (1 - n / records));
  expect(Math.abs(these.low - Math.max(0, rest.low - 0.001))).toBeLessThan(0.001);
  expect(Math.abs(these.high - Math.min(1, rest.high + 0.001))).toBeLessThan(0.001);
});

test("one stratum of which all or no labels are hits has a limit by its number of labels", () => {
  const none = stratifiedInterval([{ records: 1e6, n: 100, hits: 0 }], "alike");
  expect(none.low).toBe(0);
  expect(none.high).toBeCloseTo(1 - Math.exp(-2.2 / 99), 9);
  const all = stratifiedInterval([{ records: 1e6, n: 100, hits: 100 }], "alike");
  expect([all.low, all.high]).toEqual([expect.closeTo(1 - none.high, 9), 1]);
});

test("labels of all records of a stratum leave no doubt about it", () => {
  const strata = [
    { records: 20, n: 20, hits: 5 },
    { records: 80, n: 80, hits: 0 },
  ];
  const { low, high } = stratifiedInterval(strata, "these");
  expect([low, high]).toEqual([expect.closeTo(0.04, 12), expect.closeTo(0.06, 12)]);
});

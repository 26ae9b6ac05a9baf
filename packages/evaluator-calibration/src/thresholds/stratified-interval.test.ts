import { expect, test } from "vitest";
import { binomialDrawer, seededRandom } from "../math/random.ts";
import { type Stratum, stratifiedInterval } from "./stratified-interval.ts";

const logOf = (count: number, share: number) => (count === 0 ? 0 : count * Math.log(share));
const likelihood = ({ n, hits }: Stratum, q: number) => logOf(hits, q) + logOf(n - hits, 1 - q);

/** Returns the lowest and the highest share of a fine grid of both strata's shares that the test does not reject. */
function searchGrid(
  strata: readonly [Stratum, Stratum],
  certaintyOf: (one: Stratum) => number,
  most: number,
) {
  const steps = 2000;
  const [first, second] = strata.map((one) =>
    Float64Array.from({ length: steps + 1 }, (_, at) => {
      const best = likelihood(one, one.hits / one.n);
      return 2 * certaintyOf(one) * (best - likelihood(one, at / steps));
    }),
  ) as [Float64Array, Float64Array];
  const shares = strata.map(({ records }) => records / (strata[0].records + strata[1].records));
  const kept = [...first.keys()].flatMap((i) => {
    const isKept = (lost: number) => (first[i] as number) + lost <= most;
    const ends = [second.findIndex(isKept), second.findLastIndex(isKept)];
    if (ends[0] === -1) return [];
    return ends.map((j) => ((shares[0] as number) * i + (shares[1] as number) * j) / steps);
  });
  return { low: Math.min(...kept), high: Math.max(...kept) };
}

interface Limits {
  readonly low: number;
  readonly high: number;
}

/** The limits of a grid, of which each side has as many labels of its kind as the heavier stratum's are worth. */
function gridLimits(
  strata: readonly [Stratum, Stratum],
  certaintyOf: (one: Stratum) => number,
  few: Limits,
): Limits {
  const mostOf = (count: number) => (4.4 * (count + 1.7)) / (count + 1);
  const { low } = searchGrid(strata, certaintyOf, mostOf(few.low));
  const { high } = searchGrid(strata, certaintyOf, mostOf(few.high));
  return { low, high };
}

test.each([
  {
    strata: [
      { records: 900, n: 45, hits: 45 },
      { records: 100, n: 50, hits: 25 },
    ],
    alikeFew: { low: 0.2494, high: 45.25 },
    theseFew: { low: 0.1313, high: 45.13 },
  },
  {
    strata: [
      { records: 400, n: 20, hits: 3 },
      { records: 600, n: 80, hits: 0 },
    ],
    alikeFew: { low: 27.82, high: 3 },
    theseFew: { low: 26.87, high: 3 },
  },
] as const)("the limits of $strata are those of the likelihood ratio test", (made) => {
  const { strata, alikeFew, theseFew } = made;
  const [first, second] = strata;
  // So many records that their numbers in each stratum are sure.
  const many = [first, second].map(({ records, n, hits }) => ({ records: 1e6 * records, n, hits }));
  const alike = stratifiedInterval(many, "alike");
  const grid = gridLimits(strata, ({ n }) => (n - 1) / n, alikeFew);
  expect(Math.abs(alike.low - grid.low)).toBeLessThan(0.001);
  expect(Math.abs(alike.high - grid.high)).toBeLessThan(0.001);
  const these = stratifiedInterval(strata, "these");
  const restOf = ({ n, records }: Stratum) => (n - 1) / n / (1 - n / records);
  const rest = gridLimits(strata, restOf, theseFew);
  expect(Math.abs(these.low - Math.max(0, rest.low - 0.001))).toBeLessThan(0.001);
  expect(Math.abs(these.high - Math.min(1, rest.high + 0.001))).toBeLessThan(0.001);
});

test.each([2.3, 2.6, 4.8])(
  "a heavy stratum with %d hits on average, beside a light one with many, holds in 95 %",
  (hits) => {
    const random = seededRandom(3);
    const [heavy, light] = [binomialDrawer(100, hits / 100), binomialDrawer(100, 0.5)];
    const missed = Array.from({ length: 2000 }, () => {
      const strata = [
        { records: 99_900, n: 100, hits: heavy(random) },
        { records: 100, n: 100, hits: light(random) },
      ];
      const { low, high } = stratifiedInterval(strata, "alike");
      const truth = (99_900 * (hits / 100) + 50) / 100_000;
      return low > truth || high < truth;
    }).filter(Boolean);
    expect(missed.length / 2000).toBeLessThan(0.05);
  },
);

test("other records like these have other numbers of each stratum", () => {
  const random = seededRandom(3);
  const [size, wrong, right] = [
    binomialDrawer(300, 0.5),
    binomialDrawer(100, 0.05),
    binomialDrawer(100, 0.98),
  ];
  const missed = Array.from({ length: 1000 }, () => {
    const records = size(random);
    const strata = [
      { records, n: 100, hits: wrong(random) },
      { records: 300 - records, n: 100, hits: right(random) },
    ];
    const { low, high } = stratifiedInterval(strata, "alike");
    return low > 0.515 || high < 0.515;
  }).filter(Boolean);
  expect(missed.length / 1000).toBeLessThan(0.05);
});

test("one stratum of which all or no labels are hits has a limit by its number of labels", () => {
  const none = stratifiedInterval([{ records: 1e6, n: 100, hits: 0 }], "alike");
  expect(none.low).toBe(0);
  expect(none.high).toBeCloseTo(1 - Math.exp((-2.2 * 1.7) / 99), 9);
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

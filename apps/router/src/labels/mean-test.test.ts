import { expect, test } from "vitest";
import { highestShare, pOfMean } from "./verdict.ts";

/** Returns the probability of at most `most` losses in `n` rows. */
function atMost(most: number, n: number, loss: number): number {
  let [sum, log] = [0, n * Math.log(1 - loss)];
  for (let losses = 0; losses <= most; losses += 1) {
    sum += Math.exp(log);
    log += Math.log(((n - losses) / (losses + 1)) * (loss / (1 - loss)));
  }
  return sum;
}

const worst = -0.97;
const gains = [0.3, 0.1, 0.03, 0.01];
const sizes = [40, 80, 120, 200, 400, 1000];

test.each(gains.flatMap((gain) => sizes.map((n) => [gain, n] as const)))(
  "rows of %d, and rare losses, pass at 2.5 %% at most so often if their mean is 0 (%d rows)",
  (gain, n) => {
    const loss = gain / (gain - worst);
    const passes = (losses: number) => {
      const rows = Array.from({ length: n }, (_, at) => (at < losses ? worst : gain));
      return pOfMean(rows, worst) <= 0.025;
    };
    const most = Array.from({ length: n }, (_, losses) => losses).findLastIndex(passes);
    expect(most === -1 ? 0 : atMost(most, n, loss)).toBeLessThanOrEqual(0.025);
  },
);

test("a mean of 0 or less has the p-value 1, a clear one nearly 0", () => {
  expect(pOfMean([1, -1, 1, -1], -1)).toBe(1);
  expect(
    pOfMean(
      Array.from({ length: 500 }, (_, at) => at % 2),
      -1,
    ),
  ).toBeLessThan(1e-12);
});

test.each([
  [0.97, 0.97],
  [0, 0],
  [1, 1],
])("the highest share that passes, in whole percent: up to %d is %d", (limit, found) => {
  expect(highestShare((share) => share <= limit)).toBe(found);
});

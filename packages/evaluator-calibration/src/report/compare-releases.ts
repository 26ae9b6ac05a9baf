import type { LockedThreshold } from "../artifact.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import { type Pool, poolRows } from "../math/pool.ts";
import { drawHypergeometric, seededRandom } from "../math/random.ts";
import { quantileOf, sumOf } from "../math/rows.ts";
import { binomialAtMost, chiSquareCut } from "../math/special-functions.ts";
import { wilson } from "../thresholds/intervals.ts";
import { checkThresholds } from "./check-threshold.ts";
import { brierOf, type LabelledRows, printedOf, topAnswers } from "./labelled-rows.ts";

/** Returns what changed between two columns of answers to one question. */
export function compareReleases(
  before: AnswerColumn,
  after: AnswerColumn,
  { seed, labelled }: { readonly seed: number; readonly labelled: LabelledComparison | null },
) {
  const [first, second] = [topAnswers(before), topAnswers(after)];
  const samples = samplesOf(first.probability, second.probability);
  const stability = stabilityTest(samples);
  const kolmogorovSmirnov = kolmogorovSmirnovTest(samples, seed);
  let [of, n] = [0, 0];
  for (const [row, id] of before.ids.entries()) {
    const other = after.rowOf(id);
    if (other === undefined) continue;
    of += 1;
    if (first.option[row] !== second.option[other]) n += 1;
  }
  return {
    question: before.question,
    before: { source: before.source, n: before.ids.length },
    after: { source: after.source, n: after.ids.length },
    stability,
    kolmogorovSmirnov,
    /** Records of both releases with another most probable answer; null if no record has both. */
    flips: of === 0 ? null : { n, of, value: n / of, ...wilson(n, of) },
    /** Whether the printed values changed, for better or worse. */
    isChanged: stability.index > stability.cut || kolmogorovSmirnov.pValue < 0.05,
    /** On the labelled records of both; null without labels. */
    labelled,
  };
}

/** Returns how two releases do on the records that are labelled in both; null without such records. */
export function compareLabelled(
  before: LabelledRows,
  after: LabelledRows,
  { thresholds, seed }: { readonly thresholds: readonly LockedThreshold[]; readonly seed: number },
) {
  const rowOf = new Map(before.ids.map((id, row) => [id, row]));
  const differences: number[] = [];
  let [onlyBeforeRight, onlyAfterRight] = [0, 0];
  for (const [row, id] of after.ids.entries()) {
    const earlier = rowOf.get(id);
    if (earlier === undefined) continue;
    differences.push(brierOf(after, row) - brierOf(before, earlier));
    const wasRight = before.top[earlier] === before.truth[earlier];
    const isRight = after.top[row] === after.truth[row];
    if (wasRight && !isRight) onlyBeforeRight += 1;
    if (isRight && !wasRight) onlyAfterRight += 1;
  }
  if (differences.length === 0) return null;
  const fewer = Math.min(onlyBeforeRight, onlyAfterRight);
  return {
    n: differences.length,
    onlyBeforeRight,
    onlyAfterRight,
    /** That both are right equally often (McNemar, exact). */
    pValue: Math.min(1, 2 * binomialAtMost(fewer, onlyBeforeRight + onlyAfterRight, 0.5)),
    /** The second release's Brier score minus the first's: above 0 is worse. */
    brierDifference: pairedDifference(differences, seed),
    /** The locked thresholds, tried again on the second release. */
    thresholds: checkThresholds(
      thresholds
        .filter(({ question }) => question === after.question)
        .map((locked) => ({ locked, rows: after.tested, all: printedOf(after) })),
    ),
  };
}

/** How two releases do on the same labelled records. */
export type LabelledComparison = NonNullable<ReturnType<typeof compareLabelled>>;

/** The rows of two samples at each value; the second sample's are the positives. */
type Samples = Pick<Pool, "counts" | "positives"> & { readonly sizes: readonly [number, number] };

function samplesOf(a: Float64Array, b: Float64Array): Samples {
  const values = new Float64Array(a.length + b.length);
  values.set(a);
  values.set(b, a.length);
  const isSecond = new Uint8Array(values.length).fill(1, a.length);
  return { ...poolRows(values, isSecond), sizes: [a.length, b.length] };
}

/** Returns the largest distance between the cumulated shares of two samples. */
function distanceOf({ counts, positives, sizes }: Samples): number {
  let [belowA, belowB, distance] = [0, 0, 0];
  for (let i = 0; i < counts.length; i += 1) {
    belowA += (counts[i] as number) - (positives[i] as number);
    belowB += positives[i] as number;
    distance = Math.max(distance, Math.abs(belowA / sizes[0] - belowB / sizes[1]));
  }
  return distance;
}

const PERMUTATIONS = 999;

/**
 * Returns the largest distance between the cumulated distributions of two samples, and how often it is
 * as large if their rows are mixed at random: printed values have many ties, for which the textbook p
 * value is wrong.
 */
function kolmogorovSmirnovTest(samples: Samples, seed: number) {
  const distance = distanceOf(samples);
  const random = seededRandom(seed);
  let asFar = 1;
  for (let round = 0; round < PERMUTATIONS; round += 1) {
    let [leftA, left] = [samples.sizes[0], samples.sizes[0] + samples.sizes[1]];
    const positives = samples.counts.map((count) => {
      const urn = { first: count, second: left - count, draws: leftA };
      const drawn = drawHypergeometric(urn, random);
      left -= count;
      leftA -= drawn;
      return count - drawn;
    });
    if (distanceOf({ ...samples, positives }) >= distance - 1e-12) asFar += 1;
  }
  return { distance, pValue: asFar / (PERMUTATIONS + 1) };
}

// Answers that did not change are called changed in one of twenty comparisons.
const BY_CHANCE = 0.05;
// A share of 0 would make the index infinite.
const LEAST_SHARE = 1e-4;

/** Returns the population stability index over the first sample's deciles, and its upper limit by chance. */
function stabilityTest({ counts, positives, sizes }: Samples): { index: number; cut: number } {
  const [allBefore, allAfter] = sizes;
  let [inBefore, inAfter, filled, bins, index] = [0, 0, 0, 0, 0];
  for (let i = 0; i < counts.length; i += 1) {
    const before = (counts[i] as number) - (positives[i] as number);
    inBefore += before;
    inAfter += positives[i] as number;
    filled += before;
    if (filled < ((bins + 1) * allBefore) / 10 && i < counts.length - 1) continue;
    const expected = Math.max(inBefore / allBefore, LEAST_SHARE);
    const actual = Math.max(inAfter / allAfter, LEAST_SHARE);
    index += (actual - expected) * Math.log(actual / expected);
    bins += 1;
    [inBefore, inAfter] = [0, 0];
  }
  const degrees = Math.max(1, bins - 1);
  return { index, cut: chiSquareCut(BY_CHANCE, degrees) * (1 / allBefore + 1 / allAfter) };
}

const RESAMPLES = 1000;

/** Returns the mean of paired differences: by bootstrap up to 50,000 rows, above by 1.96 standard errors. */
function pairedDifference(differences: readonly number[], seed: number) {
  // Sorted, so that the result does not depend on the order of the rows.
  const sorted = Float64Array.from(differences).toSorted();
  const n = sorted.length;
  const mean = sumOf(sorted) / n;
  if (n > 50_000) {
    const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
    const half = 1.96 * Math.sqrt(variance / n);
    return { mean, low: mean - half, high: mean + half };
  }
  const random = seededRandom(seed);
  const means = new Float64Array(RESAMPLES).map(() => {
    let sum = 0;
    for (let i = 0; i < n; i += 1) sum += sorted[Math.floor(random() * n)] as number;
    return sum / n;
  });
  return { mean, low: quantileOf(means, 0.025), high: quantileOf(means, 0.975) };
}

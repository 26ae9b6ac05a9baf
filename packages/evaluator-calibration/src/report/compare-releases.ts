import type { LockedThreshold } from "../artifact.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import { mixPositives, type Pool, poolRows } from "../math/pool.ts";
import { seededRandom } from "../math/random.ts";
import { type Weighted, weightedMean } from "../math/rows.ts";
import { binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { meanLimit } from "../thresholds/mean-limits.ts";
import { checkThresholds } from "./check-threshold.ts";
import { isFairDraw } from "./fair-draw.ts";
import {
  computeBrier,
  type LabelledRows,
  printedOf,
  takeRows,
  topAnswers,
} from "./labelled-rows.ts";

/** Without a change, the comparisons of one call find one in one of twenty calls. */
const BY_CHANCE = 0.05;

interface ReleaseOptions {
  readonly seed: number;
  readonly labelled: LabelledComparison | null;
  /** How many questions are compared in the same call; they share the chance of a false alarm. @default 1 */
  readonly questions?: number;
}

/** Returns what changed between two columns of answers to one question. */
export function compareReleases(
  before: AnswerColumn,
  after: AnswerColumn,
  { seed, labelled: labelledCounts, questions = 1 }: ReleaseOptions,
) {
  const [first, second] = [topAnswers(before), topAnswers(after)];
  const samples = listSamples(first.probability, second.probability);
  const { stability, kolmogorovSmirnov } = permutationTests(samples, { seed, questions });
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
    flips: of === 0 ? null : { n, of, value: n / of, ...clopperPearson(n, of) },
    /** Whether the printed values changed, for better or worse. */
    isChanged:
      // Two tests, each at half the level.
      Math.min(stability.pValue, kolmogorovSmirnov.pValue) <= BY_CHANCE / questions / 2 + 1e-12,
    /** On the labelled records of both; null without labels. */
    labelled: labelledCounts,
  };
}

interface LabelledOptions {
  /** Those of other questions, and of exactly some records with their answers of that time, are left out. */
  readonly thresholds: readonly LockedThreshold[];
  /** How many comparisons the same call has: they share the chance of a false verdict, and all intervals hold together. @default 1 */
  readonly lines?: number;
}

/** Returns how two releases do on the records that are labelled in both; null without such records. */
export function compareLabelled(
  before: LabelledRows,
  after: LabelledRows,
  { thresholds, lines = 1 }: LabelledOptions,
) {
  const rowOf = new Map(before.ids.map((id, row) => [id, row]));
  const [differences, weights]: [number[], number[]] = [[], []];
  let [onlyBeforeRight, onlyAfterRight] = [0, 0];
  for (const [row, id] of after.ids.entries()) {
    const earlier = rowOf.get(id);
    if (earlier === undefined) continue;
    differences.push(
      computeBrier(after, row, after.truth[row] as number) -
        computeBrier(before, earlier, before.truth[earlier] as number),
    );
    weights.push(after.weights?.[row] ?? 1);
    const wasRight = before.top[earlier] === before.truth[earlier];
    const isRight = after.top[row] === after.truth[row];
    if (wasRight && !isRight) onlyBeforeRight += 1;
    if (isRight && !wasRight) onlyAfterRight += 1;
  }
  if (differences.length === 0) return null;
  const fewer = Math.min(onlyBeforeRight, onlyAfterRight);
  const isFair = isFairOf(before, after) && isFairOf(after, before);
  const own = thresholds.filter(
    ({ question, these }) => question === after.question && these === undefined,
  );
  // The Brier score, who is right more often, and each threshold.
  const tests = lines * (2 + own.length);
  const pValue = Math.min(1, 2 * binomialAtMost(fewer, onlyBeforeRight + onlyAfterRight, 0.5));
  const { isAbove, ...brierDifference } = describeDifferences(differences, {
    ...extremeDifferences(before.joined.column, after.joined.column, differences.length),
    level: BY_CHANCE / tests,
    lines,
    weights,
  });
  return {
    n: differences.length,
    onlyBeforeRight,
    onlyAfterRight,
    /** That both are right equally often (McNemar, exact). */
    pValue,
    /** The second release's Brier score minus the first's: above 0 is worse. */
    brierDifference,
    /** Whether the labels look like a random draw of the records that both answered; if not, they show no release to be worse. */
    isFair,
    /** Whether the second release has the higher Brier score, or is right less often, by more than chance. */
    isWorse:
      isFair && (isAbove || (onlyBeforeRight > onlyAfterRight && pValue / 2 <= BY_CHANCE / tests)),
    /** The locked thresholds, tried again on the second release. */
    thresholds: checkThresholds(
      own.map((lockedThreshold) => ({
        locked: lockedThreshold,
        rows: after.testedRows,
        all: printedOf(after),
      })),
      tests,
    ),
  };
}

/** Returns whether the labelled records of a release look like a random draw of those that another one answered, too. */
function isFairOf({ testedRows: rows }: LabelledRows, { joined: other }: LabelledRows): boolean {
  const isShared = (id: string) => other.column.rowOf(id) !== undefined;
  const shared = takeRows(
    rows,
    [...rows.ids.keys()].filter((row) => isShared(rows.ids[row] as string)),
  );
  return isFairDraw(shared, printedOf(rows, isShared));
}

/** How two releases do on the same labelled records. */
export type LabelledComparison = NonNullable<ReturnType<typeof compareLabelled>>;

/** The rows of two samples at each value; the second sample's are the positives. */
type Samples = Pick<Pool, "counts" | "positives"> & { readonly sizes: readonly [number, number] };

function listSamples(a: Float64Array, b: Float64Array): Samples {
  const values = new Float64Array(a.length + b.length);
  values.set(a);
  values.set(b, a.length);
  const isSecond = new Uint8Array(values.length).fill(1, a.length);
  return { ...poolRows(values, isSecond), sizes: [a.length, b.length] };
}

/** Returns the largest distance between the cumulated shares of two samples. */
function computeDistance({ counts, positives, sizes }: Samples): number {
  let [belowA, belowB, distance] = [0, 0, 0];
  for (let i = 0; i < counts.length; i += 1) {
    belowA += (counts[i] as number) - (positives[i] as number);
    belowB += positives[i] as number;
    distance = Math.max(distance, Math.abs(belowA / sizes[0] - belowB / sizes[1]));
  }
  return distance;
}

/** How often rows are mixed at least, and for each question of a call. */
const PERMUTATIONS = { least: 999, perQuestion: 100 };

/**
 * Returns the stability index and the largest distance between the cumulated distributions of two samples, and how
 * often each is as large if their rows are mixed at random: printed values have many ties, and most deciles of them
 * may be equal, for which the textbook's limits are wrong.
 */
function permutationTests(
  samples: Samples,
  { seed, questions }: { readonly seed: number; readonly questions: number },
) {
  const [index, distance] = [stabilityIndex(samples), computeDistance(samples)];
  const random = seededRandom(seed);
  const rounds = Math.max(PERMUTATIONS.least, PERMUTATIONS.perQuestion * questions);
  const asFar = { index: 1, distance: 1 };
  for (let round = 0; round < rounds; round += 1) {
    const mixedParts = { ...samples, positives: mixPositives(samples, random) };
    if (stabilityIndex(mixedParts) >= index - 1e-12) asFar.index += 1;
    if (computeDistance(mixedParts) >= distance - 1e-12) asFar.distance += 1;
  }
  return {
    stability: { index, pValue: asFar.index / (rounds + 1) },
    kolmogorovSmirnov: { distance, pValue: asFar.distance / (rounds + 1) },
  };
}

// A share of 0 would make the index infinite.
const LEAST_SHARE = 1e-4;

/** Returns the population stability index over the first sample's deciles. */
function stabilityIndex({ counts, positives, sizes }: Samples): number {
  const [allBefore, allAfter] = sizes;
  let [inBefore, inAfter, filledValue, bins, index] = [0, 0, 0, 0, 0];
  for (let i = 0; i < counts.length; i += 1) {
    const before = (counts[i] as number) - (positives[i] as number);
    inBefore += before;
    inAfter += positives[i] as number;
    filledValue += before;
    if (filledValue < ((bins + 1) * allBefore) / 10 && i < counts.length - 1) continue;
    const expectedValue = Math.max(inBefore / allBefore, LEAST_SHARE);
    const actual = Math.max(inAfter / allAfter, LEAST_SHARE);
    index += (actual - expectedValue) * Math.log(actual / expectedValue);
    bins += 1;
    [inBefore, inAfter] = [0, 0];
  }
  return index;
}

/**
 * Returns the mean of differences between the Brier scores of labelled rows with its interval, which holds with 95 % confidence
 * together with those of the other lines, and whether it is above 0 with a chance of error of `level`.
 */
function describeDifferences(
  values: readonly number[],
  {
    least,
    most,
    level,
    lines,
    weights,
  }: ReturnType<typeof extremeDifferences> & Weighted & { level: number; lines: number },
) {
  // With one unseen row, 12 limits at their part of the level would miss in 22 % if a rare loss is never seen; with two in 3 %.
  const limit = { level: BY_CHANCE / 2 / lines, unseen: lines === 1 ? 1 : 2, weights };
  return {
    mean: weightedMean(values.length, weights, (row) => values[row] as number),
    low: meanLimit(values, { ...limit, worst: least }),
    high: meanLimit(values, { ...limit, worst: most }),
    isAbove: meanLimit(values, { worst: least, level, unseen: 2, weights }) > 0,
  };
}

/**
 * Returns the lowest and the highest difference that any truth makes between two columns' Brier scores of a record. The
 * more of the records are labelled, the less their answers show of others, and the nearer both are to those of any answers:
 * without this, 30 labels of 30 records that all stayed the same had the interval from 0 to 0.
 */
function extremeDifferences(before: AnswerColumn, after: AnswerColumn, labels: number) {
  const { form } = after;
  let [least, most, records] = [0, 0, 0];
  for (const [row, id] of after.ids.entries()) {
    const earlier = before.rowOf(id);
    if (earlier === undefined) continue;
    records += 1;
    for (const [truth, option] of after.options.entries()) {
      const earlierTruth = before.options.indexOf(option);
      const difference =
        computeBrier({ form, table: after }, row, truth) -
        computeBrier({ form, table: before }, earlier, earlierTruth);
      [least, most] = [Math.min(least, difference), Math.max(most, difference)];
    }
  }
  const [share, possible] = [labels / records, form === "probability" ? 1 : 2];
  return { least: least - share * (possible + least), most: most + share * (possible - most) };
}

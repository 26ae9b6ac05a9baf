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
  earlierColumn: AnswerColumn,
  laterColumn: AnswerColumn,
  { seed, labelled: labelledCounts, questions = 1 }: ReleaseOptions,
) {
  const [earlierTops, laterTops] = [topAnswers(earlierColumn), topAnswers(laterColumn)];
  const samples = listSamples(earlierTops.probability, laterTops.probability);
  const { stability, kolmogorovSmirnov, leastPValue } = permutationTests(samples, {
    seed,
    questions,
  });
  let [sharedCount, flipCount] = [0, 0];
  for (const [earlierRow, recordId] of earlierColumn.ids.entries()) {
    const laterRow = laterColumn.rowOf(recordId);
    if (laterRow === undefined) continue;
    sharedCount += 1;
    if (earlierTops.option[earlierRow] !== laterTops.option[laterRow]) flipCount += 1;
  }
  return {
    question: earlierColumn.question,
    before: { source: earlierColumn.source, n: earlierColumn.ids.length },
    after: { source: laterColumn.source, n: laterColumn.ids.length },
    stability,
    kolmogorovSmirnov,
    leastPValue,
    /** Records of both releases with another most probable answer; null if no record has both. */
    flips:
      sharedCount === 0
        ? null
        : {
            n: flipCount,
            of: sharedCount,
            value: flipCount / sharedCount,
            ...clopperPearson(flipCount, sharedCount),
          },
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
  earlierRows: LabelledRows,
  laterRows: LabelledRows,
  { thresholds, lines = 1 }: LabelledOptions,
) {
  const earlierRowById = new Map(earlierRows.ids.map((recordId, rowIndex) => [recordId, rowIndex]));
  const [differences, weights]: [number[], number[]] = [[], []];
  let [onlyBeforeRight, onlyAfterRight] = [0, 0];
  for (const [laterRow, recordId] of laterRows.ids.entries()) {
    const earlierRow = earlierRowById.get(recordId);
    if (earlierRow === undefined) continue;
    differences.push(
      computeBrier(laterRows, laterRow, laterRows.truth[laterRow] as number) -
        computeBrier(earlierRows, earlierRow, earlierRows.truth[earlierRow] as number),
    );
    weights.push(laterRows.weights?.[laterRow] ?? 1);
    const wasRight = earlierRows.top[earlierRow] === earlierRows.truth[earlierRow];
    const isRight = laterRows.top[laterRow] === laterRows.truth[laterRow];
    if (wasRight && !isRight) onlyBeforeRight += 1;
    if (isRight && !wasRight) onlyAfterRight += 1;
  }
  if (differences.length === 0) return null;
  const fewerCount = Math.min(onlyBeforeRight, onlyAfterRight);
  const isFair = isFairOf(earlierRows, laterRows) && isFairOf(laterRows, earlierRows);
  const ownThresholds = thresholds.filter(
    ({ question, these }) => question === laterRows.question && these === undefined,
  );
  // The Brier score, who is right more often, and each threshold.
  const testCount = lines * (2 + ownThresholds.length);
  const pValue = Math.min(1, 2 * binomialAtMost(fewerCount, onlyBeforeRight + onlyAfterRight, 0.5));
  const { isAbove, ...brierDifference } = describeDifferences(differences, {
    ...extremeDifferences(earlierRows.joined.column, laterRows.joined.column, differences.length),
    level: BY_CHANCE / testCount,
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
      isFair &&
      (isAbove || (onlyBeforeRight > onlyAfterRight && pValue / 2 <= BY_CHANCE / testCount)),
    /** The locked thresholds, tried again on the second release. */
    thresholds: checkThresholds(
      ownThresholds.map((lockedThreshold) => ({
        locked: lockedThreshold,
        rows: laterRows.testedRows,
        all: printedOf(laterRows),
      })),
      testCount,
    ),
  };
}

/** Returns whether the labelled records of a release look like a random draw of those that another one answered, too. */
function isFairOf({ testedRows }: LabelledRows, { joined }: LabelledRows): boolean {
  const isShared = (recordId: string) => joined.column.rowOf(recordId) !== undefined;
  const sharedRows = takeRows(
    testedRows,
    [...testedRows.ids.keys()].filter((rowIndex) => isShared(testedRows.ids[rowIndex] as string)),
  );
  return isFairDraw(sharedRows, printedOf(testedRows, isShared));
}

/** How two releases do on the same labelled records. */
export type LabelledComparison = NonNullable<ReturnType<typeof compareLabelled>>;

/** The rows of two samples at each value; the second sample's are the positives. */
type Samples = Pick<Pool, "counts" | "positives"> & { readonly sizes: readonly [number, number] };

function listSamples(earlierValues: Float64Array, laterValues: Float64Array): Samples {
  const allValues = new Float64Array(earlierValues.length + laterValues.length);
  allValues.set(earlierValues);
  allValues.set(laterValues, earlierValues.length);
  const isSecond = new Uint8Array(allValues.length).fill(1, earlierValues.length);
  return { ...poolRows(allValues, isSecond), sizes: [earlierValues.length, laterValues.length] };
}

/** Returns the largest distance between the cumulated shares of two samples. */
function computeDistance({ counts, positives, sizes }: Samples): number {
  let [earlierBelow, laterBelow, distance] = [0, 0, 0];
  for (let valueIndex = 0; valueIndex < counts.length; valueIndex += 1) {
    earlierBelow += (counts[valueIndex] as number) - (positives[valueIndex] as number);
    laterBelow += positives[valueIndex] as number;
    distance = Math.max(distance, Math.abs(earlierBelow / sizes[0] - laterBelow / sizes[1]));
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
  const [seenIndex, seenDistance] = [stabilityIndex(samples), computeDistance(samples)];
  const nextRandom = seededRandom(seed);
  const roundCount = Math.max(PERMUTATIONS.least, PERMUTATIONS.perQuestion * questions);
  const farCounts = { index: 1, distance: 1 };
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex += 1) {
    const mixedParts = { ...samples, positives: mixPositives(samples, nextRandom) };
    if (stabilityIndex(mixedParts) >= seenIndex - 1e-12) farCounts.index += 1;
    if (computeDistance(mixedParts) >= seenDistance - 1e-12) farCounts.distance += 1;
  }
  return {
    /** That of values further apart than any that were mixed: it is not known how much less it is. */
    leastPValue: 1 / (roundCount + 1),
    stability: { index: seenIndex, pValue: farCounts.index / (roundCount + 1) },
    kolmogorovSmirnov: { distance: seenDistance, pValue: farCounts.distance / (roundCount + 1) },
  };
}

// A share of 0 would make the index infinite.
const LEAST_SHARE = 1e-4;

/** Returns the population stability index over the first sample's deciles. */
function stabilityIndex({ counts, positives, sizes }: Samples): number {
  const [allBefore, allAfter] = sizes;
  let [inBefore, inAfter, filledValue, binCount, indexSum] = [0, 0, 0, 0, 0];
  for (let valueIndex = 0; valueIndex < counts.length; valueIndex += 1) {
    const earlierCount = (counts[valueIndex] as number) - (positives[valueIndex] as number);
    inBefore += earlierCount;
    inAfter += positives[valueIndex] as number;
    filledValue += earlierCount;
    if (filledValue < ((binCount + 1) * allBefore) / 10 && valueIndex < counts.length - 1) continue;
    const earlierShare = Math.max(inBefore / allBefore, LEAST_SHARE);
    const laterShare = Math.max(inAfter / allAfter, LEAST_SHARE);
    indexSum += (laterShare - earlierShare) * Math.log(laterShare / earlierShare);
    binCount += 1;
    [inBefore, inAfter] = [0, 0];
  }
  return indexSum;
}

/**
 * Returns the mean of differences between the Brier scores of labelled rows with its interval, which holds with 95 % confidence
 * together with those of the other lines, and whether it is above 0 with a chance of error of `level`.
 */
function describeDifferences(
  differences: readonly number[],
  {
    least,
    most,
    level,
    lines,
    weights,
  }: ReturnType<typeof extremeDifferences> & Weighted & { level: number; lines: number },
) {
  // With one unseen row, 12 limits at their part of the level would miss in 22 % if a rare loss is never seen; with two in 3 %.
  const limitOptions = { level: BY_CHANCE / 2 / lines, unseen: lines === 1 ? 1 : 2, weights };
  return {
    mean: weightedMean(differences.length, weights, (rowIndex) => differences[rowIndex] as number),
    low: meanLimit(differences, { ...limitOptions, worst: least }),
    high: meanLimit(differences, { ...limitOptions, worst: most }),
    isAbove: meanLimit(differences, { worst: least, level, unseen: 2, weights }) > 0,
  };
}

/**
 * Returns the lowest and the highest difference that any truth makes between two columns' Brier scores of a record. The
 * more of the records are labelled, the less their answers show of others, and the nearer both are to those of any answers:
 * without this, 30 labels of 30 records that all stayed the same had the interval from 0 to 0.
 */
function extremeDifferences(
  earlierColumn: AnswerColumn,
  laterColumn: AnswerColumn,
  labelCount: number,
) {
  const { form } = laterColumn;
  let [leastDifference, mostDifference, recordCount] = [0, 0, 0];
  for (const [laterRow, recordId] of laterColumn.ids.entries()) {
    const earlierRow = earlierColumn.rowOf(recordId);
    if (earlierRow === undefined) continue;
    recordCount += 1;
    for (const [truthIndex, optionName] of laterColumn.options.entries()) {
      const earlierTruth = earlierColumn.options.indexOf(optionName);
      const difference =
        computeBrier({ form, table: laterColumn }, laterRow, truthIndex) -
        computeBrier({ form, table: earlierColumn }, earlierRow, earlierTruth);
      [leastDifference, mostDifference] = [
        Math.min(leastDifference, difference),
        Math.max(mostDifference, difference),
      ];
    }
  }
  const [labelShare, possibleRange] = [labelCount / recordCount, form === "probability" ? 1 : 2];
  return {
    least: leastDifference - labelShare * (possibleRange + leastDifference),
    most: mostDifference + labelShare * (possibleRange - mostDifference),
  };
}

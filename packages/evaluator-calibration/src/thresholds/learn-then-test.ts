import { checkWeights, type Numbers, type Weighted } from "../check-rows.ts";
import { DEFAULT_SEED, drawBinomial, type Random, seededRandom } from "../math/random.ts";
import { binomialAtMost } from "../math/special-functions.ts";
import { checkShare, labelsForZeroErrors, smallestPromise } from "./intervals.ts";
import { countRisks, cumulate, type RiskCounts, toHundredths } from "./risk-coverage.ts";

/** What is asked for. */
export interface PromiseOptions extends Weighted {
  /** The largest share of acted-on rows that may be wrong. */
  readonly maxRisk: number;
  /** @default 0.95 */
  readonly confidence?: number;
  /**
   * The thresholds to test, in an order fixed before the rows were seen. Without it they are
   * 1.00, 0.99, …; from 150 to 3,000 rows the first is then chosen on one half, and the other tested.
   */
  readonly thresholds?: Numbers;
  /** Of the halves. @default DEFAULT_SEED */
  readonly seed?: number;
}

/** A threshold at which the risk is at most what was asked for, with the confidence asked for. */
export interface PromisedThreshold {
  readonly threshold: number;
  /** Rows of the test that are acted on at it. */
  readonly acted: number;
  readonly wrong: number;
  /** Exact probability of so few wrong rows if the risk were higher than asked for. */
  readonly pValue: number;
}

/** A promise, or how far the rows are from one. */
export interface PromiseSearch {
  readonly promised: PromisedThreshold | null;
  /** The smallest risk that can be promised at the first threshold tested, or null where none was. */
  readonly smallest: { readonly risk: number; readonly threshold: number } | null;
}

// Below, a half could not hold START_ROWS; above, the first thresholds have rows enough as they are.
const ROWS_FOR_HALVES = [150, 3000] as const;
const START_ROWS = 75;
const START_COVERAGE = 0.2;

/**
 * Returns the lowest threshold at which a risk can be promised (learn-then-test, fixed sequence), or
 * null when none can: each is tested by the exact binomial tail, and the first failure ends it.
 */
export function learnThenTest(
  confidence: Numbers,
  wrong: Numbers,
  options: PromiseOptions,
): PromisedThreshold | null {
  return search(confidence, wrong, options).promised;
}

/** Returns what {@link learnThenTest} finds, and the smallest risk that can be promised instead. */
export function searchPromise(
  confidence: Numbers,
  wrong: Numbers,
  options: PromiseOptions,
): PromiseSearch {
  const { promised, first } = search(confidence, wrong, options);
  if (first === null) return { promised, smallest: null };
  const risk = smallestPromise(first.wrong, first.acted, options.confidence);
  return { promised, smallest: { risk, threshold: first.threshold } };
}

/** What is promised, and the first threshold tested that has rows. */
interface TestedThresholds {
  readonly promised: PromisedThreshold | null;
  readonly first: PromisedThreshold | null;
}

function search(confidence: Numbers, wrong: Numbers, options: PromiseOptions): TestedThresholds {
  const { maxRisk, confidence: sureness = 0.95, thresholds, weights } = options;
  checkShare("maxRisk", maxRisk);
  checkShare("confidence", sureness);
  const random = seededRandom(options.seed ?? DEFAULT_SEED);
  const counts = countRisks(confidence, wrong);
  const tested = weights === undefined ? counts : thinOut(confidence, wrong, { weights, random });
  const bound = { maxRisk, confidence: sureness };
  if (thresholds !== undefined) return testInOrder(tested, Array.from(thresholds), bound);
  const [least, most] = ROWS_FOR_HALVES;
  if (tested.total < least || tested.total > most) {
    const sums = cumulate(tested);
    // Fewer rows fail whatever their truth, which says nothing about the threshold.
    const needed = labelsForZeroErrors(bound);
    const start = printedValues(tested).find((at) => (sums.acted[at] as number) >= needed);
    return testInOrder(tested, start === undefined ? [] : downFrom(start, tested), bound);
  }
  const [choosing, testing] = halve(tested, random);
  const start = chooseStart(choosing, maxRisk);
  return testInOrder(testing, start === null ? [] : downFrom(start, testing), bound);
}

function testInOrder(
  counts: RiskCounts,
  thresholds: readonly number[],
  { maxRisk, confidence }: { maxRisk: number; confidence: number },
): TestedThresholds {
  const sums = cumulate(counts);
  let promised: PromisedThreshold | null = null;
  let first: PromisedThreshold | null = null;
  for (const threshold of thresholds) {
    const at = toHundredths(threshold);
    const [acted, wrong] = at > 100 ? [0, 0] : [sums.acted[at] ?? 0, sums.wrong[at] ?? 0];
    const pValue = acted === 0 ? 1 : binomialAtMost(wrong, acted, maxRisk);
    const tested = { threshold, acted, wrong, pValue };
    if (acted > 0) first ??= tested;
    // 1 − 0.95 is a little over 0.05 in binary.
    if (pValue > 1 - confidence + 1e-15) break;
    promised = tested;
  }
  return { promised, first };
}

/** The printed values that rows have, from the highest down, in hundredths. */
function printedValues({ rows }: RiskCounts): number[] {
  const printed: number[] = [];
  for (let at = 100; at >= 0; at -= 1) if ((rows[at] as number) > 0) printed.push(at);
  return printed;
}

function downFrom(start: number, counts: RiskCounts): number[] {
  const lower = printedValues(counts).filter((at) => at < start);
  return [start, ...lower].map((at) => at / 100);
}

/** The start that looks safest on rows that are not tested, among those with rows enough. */
function chooseStart(counts: RiskCounts, maxRisk: number): number | null {
  const sums = cumulate(counts);
  const least = Math.max(START_ROWS, START_COVERAGE * counts.total);
  const tails = printedValues(counts)
    .filter((at) => (sums.acted[at] as number) >= Math.min(least, counts.total))
    .map((at) => ({
      at,
      pValue: binomialAtMost(sums.wrong[at] as number, sums.acted[at] as number, maxRisk),
    }));
  const best = Math.min(...tails.map(({ pValue }) => pValue));
  return tails.find(({ pValue }) => pValue === best)?.at ?? null;
}

/** Parts rows at random, by their counts: so the halves do not hang on the order of the rows. */
function halve(counts: RiskCounts, random: Random): [RiskCounts, RiskCounts] {
  const [first, second] = [emptyCounts(), emptyCounts()];
  for (let at = 0; at <= 100; at += 1) {
    const rows = counts.rows[at] as number;
    if (rows === 0) continue;
    const wrong = counts.wrong[at] as number;
    const taken = drawBinomial(rows - wrong, 0.5, random);
    const wrongTaken = drawBinomial(wrong, 0.5, random);
    addCounts(first, at, [taken + wrongTaken, wrongTaken]);
    addCounts(second, at, [rows - taken - wrongTaken, wrong - wrongTaken]);
  }
  return [first, second];
}

/** Keeps each row with a probability by its weight: the kept ones are an equal sample, as the exact test needs. */
function thinOut(
  confidence: Numbers,
  wrong: Numbers,
  { weights, random }: { weights: Numbers; random: Random },
): RiskCounts {
  checkWeights(weights, confidence);
  const cells = new Map<string, { at: number; isWrong: number; weight: number; count: number }>();
  let heaviest = 0;
  for (let i = 0; i < confidence.length; i += 1) {
    const at = toHundredths(confidence[i] as number);
    const [isWrong, weight] = [wrong[i] as number, weights[i] as number];
    const key = `${at} ${isWrong} ${weight}`;
    cells.set(key, { at, isWrong, weight, count: (cells.get(key)?.count ?? 0) + 1 });
    heaviest = Math.max(heaviest, weight);
  }
  const sorted = [...cells.values()].toSorted(
    (one, other) => one.at - other.at || one.isWrong - other.isWrong || one.weight - other.weight,
  );
  const kept = emptyCounts();
  for (const { at, isWrong, weight, count } of sorted) {
    const taken = drawBinomial(count, weight / heaviest, random);
    addCounts(kept, at, [taken, isWrong * taken]);
  }
  return kept;
}

function emptyCounts(): RiskCounts {
  return { rows: new Float64Array(101), wrong: new Float64Array(101), total: 0 };
}

function addCounts(counts: RiskCounts, at: number, [rows, wrong]: [number, number]): void {
  counts.rows[at] = (counts.rows[at] as number) + rows;
  counts.wrong[at] = (counts.wrong[at] as number) + wrong;
  counts.total += rows;
}

import type { Numbers } from "../math/rows.ts";
import { betaQuantile, binomialAtMost } from "../math/special-functions.ts";
import { type Bound, checkShare, labelsForZeroErrors } from "./intervals.ts";
import { equalRows, type Identified, wholeCounts } from "./equal-rows.ts";
import { type countRisks, toHundredths } from "./risk-coverage.ts";

/** How a promise is searched. */
export interface PromiseOptions extends Bound, Identified {
  /**
   * The thresholds to test, in an order fixed before the truths were seen. Without it they follow
   * from the printed values.
   */
  readonly thresholds?: Numbers;
  /** No lower threshold is tested; below 0.51 the other side of a yes/no question begins. @default 0.51 */
  readonly lowest?: number;
}

/** One action on one question, and its labelled rows. */
export interface PromiseAction extends Identified {
  readonly question: string;
  /** `yes`, `no`, or `top` for the most probable option or level. */
  readonly action: "yes" | "no" | "top";
  /** How sure each answer is of the action: p for yes, 1 − p for no. */
  readonly sureness: Numbers;
  /** 1 if acting would be wrong. */
  readonly wrong: Numbers;
}

// 1,000 labels of a calibrated model, base rate 50 %: a promise in 98 % of rounds; 15 % or 60 %: in 92 %.
/** The share of the region's rows that the first test has at least. */
const START_SHARE = 0.35;

/** The lowest threshold of each action: below 0.51, a yes would be a no. */
export const LOWEST: Readonly<Record<PromiseAction["action"], number>> = {
  yes: 0.51,
  no: 0.51,
  top: 0,
};

/**
 * Returns the lowest threshold at which a risk can be promised (learn-then-test, fixed sequence), or
 * null: each is tested by the exact binomial tail, and the first failure ends the search.
 *
 * @example learnThenTest(sureness, wrong, { maxRisk: 0.05 }) // { threshold: 0.93, acted: 214, wrong: 4, … }
 */
export function learnThenTest(
  sureness: Numbers,
  wrong: Numbers,
  { confidence = 0.95, lowest = LOWEST.yes, weights, ids, ...options }: PromiseOptions,
): PromisedThreshold | null {
  const level = 1 - confidence;
  checkShare("maxRisk", options.maxRisk);
  checkShare("confidence", 1 - level);
  const riskCounts = equalRows(sureness, wrong, { weights, ids, from: lowest });
  return lastPassed(listTests(riskCounts, { ...options, level, lowest }), level);
}

/**
 * Returns for each action the lowest threshold at which the risk can be promised, or null. The actions
 * share the level: all these promises hold together with the requested confidence.
 *
 * @example promiseThresholds([{ question: "scam", action: "no", sureness, wrong }], { maxRisk: 0.05 })
 */
export function promiseThresholds(
  actions: readonly PromiseAction[],
  bound: Bound,
): (PromisedAction | null)[] {
  return searchPromises(actions, bound).map(({ promised: promisedThreshold }) => promisedThreshold);
}

/** Returns the result of {@link promiseThresholds}, and the smallest risks that can be promised instead. */
export function searchPromises<TAction extends PromiseAction>(
  actions: readonly TAction[],
  { maxRisk, confidence = 0.95 }: Bound,
) {
  checkShare("confidence", confidence);
  const actionParts = actions.map((askedAction) => {
    const { action, sureness, wrong, weights, ids } = askedAction;
    const lowest = LOWEST[action];
    return {
      asked: askedAction,
      lowest,
      counts: equalRows(sureness, wrong, { weights, ids, from: lowest }),
    };
  });
  const actedRows = actionParts.map(
    ({ counts, lowest }) => counts.acted[toHundredths(lowest)] ?? 0,
  );
  const testable = chooseTestable(actedRows, { maxRisk, confidence });
  const levelShare = (1 - confidence) / Math.max(1, testable.size);
  const searches = actionParts.map(({ asked: askedAction, lowest, counts }, actionIndex) => {
    const options = { maxRisk, level: levelShare, lowest };
    const thresholdTests = testable.has(actionIndex) ? listTests(counts, options) : [];
    return { asked: askedAction, level: levelShare, tests: thresholdTests };
  });
  shareLevels(searches.filter((_, actionIndex) => testable.has(actionIndex)));
  return searches.map(({ asked: askedAction, level, tests }) => {
    const { question, action } = askedAction;
    const foundEntry = lastPassed(tests, level);
    const [firstTest] = tests;
    const roundedLevel = Number(level.toPrecision(12));
    const promisedThreshold =
      foundEntry === null ? null : { question, action, ...foundEntry, level: roundedLevel };
    if (firstTest === undefined)
      return { asked: askedAction, promised: promisedThreshold, smallest: null };
    const rightCount = firstTest.acted - firstTest.wrong;
    const smallestRisk =
      rightCount <= 0 ? 1 : 1 - betaQuantile(level, rightCount, firstTest.wrong + 1);
    return {
      asked: askedAction,
      promised: promisedThreshold,
      smallest: { risk: smallestRisk, threshold: firstTest.threshold },
    };
  });
}

/** A promised threshold of an action, and the level that it was tested at. */
export type PromisedAction = NonNullable<ReturnType<typeof searchPromises>[number]["promised"]>;

/**
 * Returns the indexes of the actions that share the level: as many as have enough rows for a promise at their part of it.
 * The truths do not choose them, so the others need no part.
 */
function chooseTestable(
  actedRows: readonly number[],
  { maxRisk, confidence }: Required<Bound>,
): ReadonlySet<number> {
  const sortedActions = [...actedRows.keys()].toSorted(
    (firstAction, secondAction) =>
      (actedRows[secondAction] as number) - (actedRows[firstAction] as number),
  );
  const leastRows = (partCount: number) =>
    labelsForZeroErrors({ maxRisk, confidence: 1 - (1 - confidence) / partCount });
  const lastTestable = sortedActions.findLastIndex(
    (actionIndex, orderIndex) => (actedRows[actionIndex] as number) >= leastRows(orderIndex + 1),
  );
  return new Set(sortedActions.slice(0, lastTestable + 1));
}

/** An action that passes every test no longer needs its share of the level: it goes to the others. */
function shareLevels(searches: readonly { level: number; tests: PromisedThreshold[] }[]): void {
  const openSearches = new Set(searches);
  const findDone = () =>
    [...openSearches].find(({ tests, level }) => lastPassed(tests, level) === tests.at(-1));
  for (let doneDone = findDone(); doneDone !== undefined; doneDone = findDone()) {
    openSearches.delete(doneDone);
    for (const otherSearch of openSearches) otherSearch.level += doneDone.level / openSearches.size;
  }
}

/** Returns the last test that passed before the first that failed. */
function lastPassed(
  thresholdTests: readonly PromisedThreshold[],
  level: number,
): PromisedThreshold | null {
  // 1 − 0.95 is a little over 0.05 in binary.
  const failedCount = thresholdTests.findIndex(({ pValue }) => pValue > level + 1e-15);
  return thresholdTests[(failedCount === -1 ? thresholdTests.length : failedCount) - 1] ?? null;
}

interface TestOptions extends Pick<PromiseOptions, "maxRisk" | "thresholds"> {
  readonly level: number;
  readonly lowest: number;
}

/** Returns every test in its order, passed or not. */
function listTests(riskCounts: ReturnType<typeof equalRows>, options: TestOptions) {
  const { maxRisk, thresholds, lowest } = options;
  const testOrder =
    thresholds === undefined
      ? computeOrder(riskCounts, options)
      : Array.from(thresholds, toHundredths).filter(
          (hundredths) => hundredths >= toHundredths(lowest),
        );
  return testOrder.map((hundredths) => {
    const [actedCount, actedWrong] = [
      riskCounts.acted[hundredths] ?? 0,
      riskCounts.actedWrong[hundredths] ?? 0,
    ];
    const pValue = actedCount === 0 ? 1 : binomialAtMost(actedWrong, actedCount, maxRisk);
    const { n, wrong } = wholeCounts({ n: actedCount, wrong: actedWrong });
    return { threshold: hundredths / 100, acted: n, wrong, pValue };
  });
}

/** A threshold, its acted-on rows, and the exact probability of so few wrong ones if the risk were higher. */
export type PromisedThreshold = ReturnType<typeof listTests>[number];

/**
 * Returns the thresholds to test, in hundredths. They depend on the printed values only, so every row
 * can be tested: the first is the highest that leaves enough rows, the next are the lower ones.
 */
function computeOrder(
  { rows, acted: actedValues }: Counts,
  { maxRisk, level, lowest }: TestOptions,
): number[] {
  const fromHundredths = toHundredths(lowest);
  const regionSize =
    toRegion({ rows, acted: actedValues }, maxRisk, fromHundredths).at(-1)?.acted ?? 0;
  const leastActed = labelsForZeroErrors({ maxRisk, confidence: 1 - level });
  return printedFrom(rows, fromHundredths).filter(
    (hundredths) =>
      (actedValues[hundredths] as number) >= Math.max(leastActed, START_SHARE * regionSize),
  );
}

type Counts = Pick<ReturnType<typeof countRisks>, "rows" | "acted">;

function printedFrom(printedRows: Counts["rows"], fromHundredths: number): number[] {
  return Array.from({ length: 101 - fromHundredths }, (_, index) => 100 - index).filter(
    (hundredths) => (printedRows[hundredths] as number) > 0,
  );
}

/**
 * Returns the thresholds, in hundredths from the highest down, at which the printed values themselves allow
 * acting, with the rows at each and above, and the share of them that is wrong if the values are true.
 */
export function toRegion(
  { rows, acted: actedValues }: Counts,
  maxRisk: number,
  fromHundredths = 0,
) {
  let printedWrong = 0;
  const printedParts = printedFrom(rows, Math.max(51, fromHundredths)).map((hundredths) => {
    printedWrong += (rows[hundredths] as number) * (100 - hundredths);
    const actedCount = actedValues[hundredths] as number;
    return { at: hundredths, acted: actedCount, printedRisk: printedWrong / (100 * actedCount) };
  });
  const lowestPart = printedParts.findLastIndex(
    ({ printedRisk }) => printedRisk <= maxRisk + 1e-12,
  );
  return printedParts.slice(0, lowestPart + 1);
}

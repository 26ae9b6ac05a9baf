import type { LockedThreshold } from "../artifact.ts";
import { checkRows, type Numbers } from "../math/rows.ts";
import { binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson, exactLimits } from "../thresholds/intervals.ts";
import { equalRows, type Identified, wholeCounts } from "../thresholds/equal-rows.ts";
import { toHundredths } from "../thresholds/risk-coverage.ts";
import { isFairDraw } from "./fair-draw.ts";
import { actionRows } from "./labelled-rows.ts";

interface TestedRows extends Identified {
  readonly p: Numbers;
  readonly cameTrue: Numbers;
}

/** A locked threshold, labelled rows of its question, and the records that these were drawn from. */
export interface ThresholdTest {
  readonly locked: LockedThreshold;
  /** `p` of yes or of the most probable option, and whether that is true (2 if unknown, which counts as wrong). */
  readonly rows: TestedRows;
  /** `p` of every record, labelled or not; null if only the labelled ones are known. */
  readonly all: Numbers | null;
}

/**
 * Returns whether a locked threshold holds on labelled rows of its question: `p` of yes or of the most
 * probable option, and whether that is true (2 if unknown, which counts as wrong). The verdict is
 * `holds` if these labels promise the same again, and `broken` if they show a higher risk with the same
 * confidence; `low` and `high` are the exact 95 % interval of the risk.
 *
 * @example checkThreshold(artifact.thresholds[0], { p: [0.97, 0.99], cameTrue: [1, 1] }).verdict
 */
export function checkThreshold(
  lockedThreshold: LockedThreshold,
  testedRows: TestedRows,
): ThresholdCheck {
  return toVerdict({ locked: lockedThreshold, rows: testedRows, all: null }, 1);
}

/**
 * Returns whether each of some locked thresholds holds, as {@link checkThreshold} does for one. They share the
 * doubt: with the promised confidence no verdict is wrong. Rows that are no fair draw of the records that were acted
 * on have no verdict.
 *
 * @param lineCount - How many tests share the doubt. @default those with a label
 */
export function checkThresholds(
  thresholdTests: readonly ThresholdTest[],
  lineCount = thresholdTests.filter(
    ({ locked: lockedThreshold, rows }) => countActed(lockedThreshold, rows).n > 0,
  ).length,
): ThresholdCheck[] {
  return thresholdTests.map((thresholdTest) => toVerdict(thresholdTest, Math.max(1, lineCount)));
}

function toVerdict(thresholdTest: ThresholdTest, testCount: number) {
  const { locked: lockedThreshold, rows } = thresholdTest;
  const { n, wrong } = countActed(lockedThreshold, rows);
  const testLevel = (1 - lockedThreshold.confidence) / testCount;
  let verdict: "holds" | "broken" | "not enough labels" | "no fair draw" = "not enough labels";
  // 1 − 0.95 is a little over 0.05 in binary.
  const doubtLevel = testLevel + 1e-15;
  if (!isFairTest(thresholdTest)) verdict = "no fair draw";
  else if (n > 0 && binomialAtMost(wrong, n, lockedThreshold.maxRisk) <= doubtLevel)
    verdict = "holds";
  else if (binomialAtMost(n - wrong, n, 1 - lockedThreshold.maxRisk) <= doubtLevel)
    verdict = "broken";
  const riskLimits = exactLimits(wrong, n, testLevel);
  return {
    locked: lockedThreshold,
    ...wholeCounts({ n, wrong }),
    ...clopperPearson(wrong, n),
    verdict,
    /** The one-sided limits of the risk that decide: it holds if `atMost` is within the promise. */
    atMost: riskLimits.high,
    atLeast: riskLimits.low,
  };
}

/** A locked threshold tried again on other labels: `n` rows at it and above, `wrong` of them. */
export type ThresholdCheck = ReturnType<typeof toVerdict>;

/** Returns whether the labelled rows at a threshold and above look like a random draw of all records there. */
export function isFairTest({ locked: { action, threshold }, rows, all }: ThresholdTest): boolean {
  if (all === null) return true;
  const toSureness = (probabilities: Numbers) =>
    actionRows({ p: probabilities, cameTrue: [] }, action).sureness;
  const drawnSample = { p: toSureness(rows.p), weights: rows.weights };
  return isFairDraw(drawnSample, toSureness(all), threshold);
}

function countActed({ action, threshold }: LockedThreshold, testedRows: TestedRows) {
  const { p, cameTrue, weights, ids } = testedRows;
  if (p.length === 0) return { n: 0, wrong: 0 };
  checkRows(p, cameTrue, { names: ["p", "cameTrue"], end: 3 });
  const { sureness, wrong } = actionRows(testedRows, action);
  const { acted: actedValues, actedWrong } = equalRows(sureness, wrong, {
    weights,
    ids,
    from: threshold,
  });
  const hundredths = toHundredths(threshold);
  return { n: actedValues[hundredths] as number, wrong: actedWrong[hundredths] as number };
}

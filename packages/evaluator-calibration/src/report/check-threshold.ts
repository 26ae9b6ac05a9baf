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
export function checkThreshold(lockedThreshold: LockedThreshold, rows: TestedRows): ThresholdCheck {
  return toVerdict({ locked: lockedThreshold, rows, all: null }, 1);
}

/**
 * Returns whether each of some locked thresholds holds, as {@link checkThreshold} does for one. They share the
 * doubt: with the promised confidence no verdict is wrong. Rows that are no fair draw of the records that were acted
 * on have no verdict.
 *
 * @param lines - How many tests share the doubt. @default those with a label
 */
export function checkThresholds(
  tests: readonly ThresholdTest[],
  lines = tests.filter(
    ({ locked: lockedThreshold, rows }) => countActed(lockedThreshold, rows).n > 0,
  ).length,
): ThresholdCheck[] {
  return tests.map((test) => toVerdict(test, Math.max(1, lines)));
}

function toVerdict(test: ThresholdTest, tests: number) {
  const { locked: lockedThreshold, rows } = test;
  const { n, wrong } = countActed(lockedThreshold, rows);
  const level = (1 - lockedThreshold.confidence) / tests;
  let verdict: "holds" | "broken" | "not enough labels" | "no fair draw" = "not enough labels";
  // 1 − 0.95 is a little over 0.05 in binary.
  const doubt = level + 1e-15;
  if (!isFairTest(test)) verdict = "no fair draw";
  else if (n > 0 && binomialAtMost(wrong, n, lockedThreshold.maxRisk) <= doubt) verdict = "holds";
  else if (binomialAtMost(n - wrong, n, 1 - lockedThreshold.maxRisk) <= doubt) verdict = "broken";
  const limits = exactLimits(wrong, n, level);
  return {
    locked: lockedThreshold,
    ...wholeCounts({ n, wrong }),
    ...clopperPearson(wrong, n),
    verdict,
    /** The one-sided limits of the risk that decide: it holds if `atMost` is within the promise. */
    atMost: limits.high,
    atLeast: limits.low,
  };
}

/** A locked threshold tried again on other labels: `n` rows at it and above, `wrong` of them. */
export type ThresholdCheck = ReturnType<typeof toVerdict>;

/** Returns whether the labelled rows at a threshold and above look like a random draw of all records there. */
export function isFairTest({ locked: { action, threshold }, rows, all }: ThresholdTest): boolean {
  if (all === null) return true;
  const toSureness = (p: Numbers) => actionRows({ p, cameTrue: [] }, action).sureness;
  const drawnSample = { p: toSureness(rows.p), weights: rows.weights };
  return isFairDraw(drawnSample, toSureness(all), threshold);
}

function countActed({ action, threshold }: LockedThreshold, rows: TestedRows) {
  const { p, cameTrue, weights, ids } = rows;
  if (p.length === 0) return { n: 0, wrong: 0 };
  checkRows(p, cameTrue, { names: ["p", "cameTrue"], end: 3 });
  const { sureness, wrong } = actionRows(rows, action);
  const { acted: actedValues, actedWrong } = equalRows(sureness, wrong, {
    weights,
    ids,
    from: threshold,
  });
  const at = toHundredths(threshold);
  return { n: actedValues[at] as number, wrong: actedWrong[at] as number };
}

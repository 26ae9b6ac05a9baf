import {
  checkIndexes,
  checkLengths,
  checkProbabilities,
  type Numbers,
  type Weighted,
} from "../check-rows.ts";
import type { LockedThreshold } from "../artifact/artifact.ts";
import { binomialAtLeast, binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { equalRows } from "../thresholds/learn-then-test.ts";
import { cumulate, toHundredths } from "../thresholds/risk-coverage.ts";
import { actionRows } from "./action-report.ts";

/** A locked threshold tried again on other labels. */
export interface ThresholdCheck {
  readonly locked: LockedThreshold;
  /** Labelled rows at the threshold and above. */
  readonly n: number;
  readonly wrong: number;
  /** Exact 95 % interval of the risk. */
  readonly low: number;
  readonly high: number;
  /**
   * `holds` where these labels promise the same again, `broken` where they show a higher risk with
   * the same confidence, and otherwise `not enough labels`.
   */
  readonly verdict: "holds" | "broken" | "not enough labels";
}

/**
 * Returns whether a locked threshold holds on labelled rows of its question: `p` of yes or of the most
 * probable option, and whether that came true (2 if it cannot be told, which counts as wrong).
 */
export function checkThreshold(
  locked: LockedThreshold,
  { p, cameTrue, weights }: Weighted & { readonly p: Numbers; readonly cameTrue: Numbers },
): ThresholdCheck {
  const { n, wrong } =
    p.length === 0 ? { n: 0, wrong: 0 } : countActed(locked, { p, cameTrue, weights });
  const doubt = 1 - locked.confidence + 1e-15;
  const holds = n > 0 && binomialAtMost(wrong, n, locked.maxRisk) <= doubt;
  const isBroken = binomialAtLeast(wrong, n, locked.maxRisk) <= doubt;
  const verdict = holds ? "holds" : isBroken ? "broken" : "not enough labels";
  return { locked, n, wrong, ...clopperPearson(wrong, n), verdict };
}

function countActed(
  { action, threshold }: LockedThreshold,
  { p, cameTrue, weights }: Parameters<typeof checkThreshold>[1],
) {
  checkLengths(["p", p], ["cameTrue", cameTrue]);
  checkProbabilities(p);
  checkIndexes(cameTrue, 3, "cameTrue");
  const { sureness, wrong } = actionRows({ p, cameTrue }, action);
  const sums = cumulate(equalRows(sureness, wrong, { weights, from: threshold }));
  const at = toHundredths(threshold);
  return { n: sums.acted[at] as number, wrong: sums.wrong[at] as number };
}

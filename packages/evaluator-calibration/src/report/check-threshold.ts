import type { LockedThreshold } from "../artifact.ts";
import { checkRows, type Numbers, type Weighted } from "../math/rows.ts";
import { binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { equalRows, toHundredths } from "../thresholds/risk-coverage.ts";
import { actionRows } from "./labelled-rows.ts";

interface TestedRows extends Weighted {
  readonly p: Numbers;
  readonly cameTrue: Numbers;
}

/**
 * Returns whether a locked threshold holds on labelled rows of its question: `p` of yes or of the most
 * probable option, and whether that is true (2 if unknown, which counts as wrong). The verdict is
 * `holds` if these labels promise the same again, and `broken` if they show a higher risk with the same
 * confidence; `low` and `high` are the exact 95 % interval of the risk.
 *
 * @example checkThreshold(artifact.thresholds[0], { p: [0.97, 0.99], cameTrue: [1, 1] }).verdict
 */
export function checkThreshold(locked: LockedThreshold, rows: TestedRows) {
  const { n, wrong } = rows.p.length === 0 ? { n: 0, wrong: 0 } : countActed(locked, rows);
  const doubt = 1 - locked.confidence + 1e-15;
  let verdict: "holds" | "broken" | "not enough labels" = "not enough labels";
  if (n > 0 && binomialAtMost(wrong, n, locked.maxRisk) <= doubt) verdict = "holds";
  else if (binomialAtMost(n - wrong, n, 1 - locked.maxRisk) <= doubt) verdict = "broken";
  return { locked, n, wrong, ...clopperPearson(wrong, n), verdict };
}

/** A locked threshold tried again on other labels: `n` rows at it and above, `wrong` of them. */
export type ThresholdCheck = ReturnType<typeof checkThreshold>;

function countActed({ action, threshold }: LockedThreshold, rows: TestedRows) {
  const { p, cameTrue, weights } = rows;
  checkRows(p, cameTrue, { names: ["p", "cameTrue"], end: 3 });
  const { sureness, wrong } = actionRows(rows, action);
  const { acted, actedWrong } = equalRows(sureness, wrong, { weights, from: threshold });
  const at = toHundredths(threshold);
  return { n: acted[at] as number, wrong: actedWrong[at] as number };
}

import type { LockedThreshold } from "../artifact/artifact.ts";
import { binomialAtLeast, binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { toHundredths } from "../thresholds/risk-coverage.ts";
import { actionRows } from "./action-report.ts";
import type { LabelledRows } from "./labelled-rows.ts";

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

/** Returns whether a locked threshold holds on labelled rows of its question. */
export function checkThreshold(
  locked: LockedThreshold,
  rows: Pick<LabelledRows, "p" | "cameTrue">,
): ThresholdCheck {
  const { sureness, wrong: isWrong } = actionRows(rows, locked.action);
  const from = toHundredths(locked.threshold);
  let [n, wrong] = [0, 0];
  for (let i = 0; i < sureness.length; i += 1) {
    if (toHundredths(sureness[i] as number) < from) continue;
    n += 1;
    wrong += isWrong[i] as number;
  }
  const doubt = 1 - locked.confidence + 1e-15;
  const holds = n > 0 && binomialAtMost(wrong, n, locked.maxRisk) <= doubt;
  const isBroken = binomialAtLeast(wrong, n, locked.maxRisk) <= doubt;
  const verdict = holds ? "holds" : isBroken ? "broken" : "not enough labels";
  return { locked, n, wrong, ...clopperPearson(wrong, n), verdict };
}

import type { Numbers } from "../check-rows.ts";
import type { LockedThreshold } from "../artifact/artifact.ts";
import { LOWEST, type PromiseSearch } from "../thresholds/learn-then-test.ts";
import {
  conformalRiskControl,
  type Costs,
  costThreshold,
  riskCoverage,
  type RiskCoveragePoint,
  toHundredths,
} from "../thresholds/risk-coverage.ts";
import type { LabelledRows } from "./labelled-rows.ts";
import { type Estimate, shareOfRows } from "./score-report.ts";

/** What is asked of an action. */
export interface ActionOptions {
  /** The largest share of acted-on rows that may be wrong. */
  readonly maxRisk: number;
  /** How sure all promises of a report are together. */
  readonly confidence: number;
  /** Also gives the weaker threshold that holds on average. */
  readonly onAverage: boolean;
  readonly costs: Costs | null;
}

/** What may be done without asking. */
export interface ActionReport {
  /** `yes`, `no`, or `top` for the most probable option or level. */
  readonly action: LockedThreshold["action"];
  readonly riskCoverage: readonly RiskCoveragePoint[];
  readonly promised: LockedThreshold | null;
  /** Share of all rows at the promised threshold and above. */
  readonly coverage: number | null;
  /** The share of all "yes" that acting on yes finds at the promised threshold. */
  readonly found: Estimate | null;
  /** The share of all "yes" that acting on no lets through at the promised threshold. */
  readonly passed: Estimate | null;
  /** The smallest risk that these labels can promise, and where; null if they can promise none. */
  readonly smallest: { readonly risk: number; readonly threshold: number } | null;
  /** The lowest threshold at which wrong acts stay below the risk on average, as a share of all rows. */
  readonly onAverage: number | null;
  /** The threshold that costs least; `threshold` null means that never acting does. */
  readonly cost: {
    readonly threshold: number | null;
    readonly cost: number;
    readonly theory: number;
  } | null;
}

/** Returns how sure a row is of an action, and whether acting on it would be wrong or cannot be told. */
export function actionRows(
  { p, cameTrue }: { readonly p: Numbers; readonly cameTrue: Numbers },
  action: LockedThreshold["action"],
): { sureness: Float64Array; wrong: Uint8Array } {
  const right = action === "no" ? 0 : 1;
  const rows = { sureness: new Float64Array(p.length), wrong: new Uint8Array(p.length) };
  for (let i = 0; i < p.length; i += 1) {
    const yes = p[i] as number;
    // Rounded again: 1 − 0.83 is not the number that is printed as 0.17.
    rows.sureness[i] = right === 1 ? yes : Math.round(1e12 * (1 - yes)) / 1e12;
    rows.wrong[i] = cameTrue[i] === right ? 0 : 1;
  }
  return rows;
}

/** Returns what an action does on labelled rows; without a search nothing is permitted. */
export function reportAction(
  rows: LabelledRows,
  action: LockedThreshold["action"],
  { search, options }: { readonly search: PromiseSearch | null; readonly options: ActionOptions },
): ActionReport {
  const { weights } = rows;
  const { maxRisk } = options;
  const { sureness, wrong } = actionRows(rows, action);
  const lowest = action === "top" ? 0 : LOWEST;
  const curve = riskCoverage(sureness, wrong, { weights }).filter(
    ({ threshold }) => threshold >= lowest,
  );
  const promised = search === null ? null : toLocked(search, options);
  const least = promised?.threshold ?? 2;
  const onAverage =
    options.onAverage && search !== null && weights === undefined
      ? conformalRiskControl(sureness, wrong, { maxRisk })
      : null;
  const acted = () =>
    shareOfRows(
      rows,
      (row) => rows.cameTrue[row] === 1,
      (row) => toHundredths(sureness[row] as number) >= toHundredths(least),
    );
  return {
    action,
    riskCoverage: curve,
    promised,
    coverage: curve.findLast(({ threshold }) => threshold >= least)?.coverage ?? null,
    found: promised !== null && action === "yes" ? acted() : null,
    passed: promised !== null && action === "no" ? acted() : null,
    smallest: search?.smallest ?? null,
    onAverage: onAverage === null ? null : Math.max(onAverage, lowest),
    cost: search === null ? null : cheapestOf({ sureness, wrong, weights, lowest }, options),
  };
}

/** Returns the threshold of a search as an artifact keeps it. */
export function toLocked(
  { promised }: PromiseSearch,
  { maxRisk, confidence }: Pick<ActionOptions, "maxRisk" | "confidence">,
): LockedThreshold | null {
  if (promised === null) return null;
  const { question, action, threshold, level, acted, wrong } = promised;
  return {
    question,
    action,
    threshold,
    maxRisk,
    confidence,
    level,
    method: "fixed",
    n: acted,
    wrong,
  };
}

function cheapestOf(
  rows: {
    readonly sureness: Float64Array;
    readonly wrong: Uint8Array;
    readonly weights: LabelledRows["weights"];
    readonly lowest: number;
  },
  { costs }: ActionOptions,
): ActionReport["cost"] {
  if (costs === null) return null;
  const { sureness, wrong, weights, lowest } = rows;
  const right = wrong.map((isWrong) => 1 - isWrong);
  const cheapest = costThreshold(sureness, right, { ...costs, weights, lowest });
  return { ...cheapest, threshold: cheapest.threshold > 1 ? null : cheapest.threshold };
}

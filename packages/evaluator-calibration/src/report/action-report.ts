import type { LockedThreshold } from "../artifact/artifact.ts";
import { type PromisedThreshold, searchPromise } from "../thresholds/learn-then-test.ts";
import {
  conformalRiskControl,
  type Costs,
  costThreshold,
  riskCoverage,
  type RiskCoveragePoint,
} from "../thresholds/risk-coverage.ts";
import type { LabelledRows } from "./labelled-rows.ts";

/** What is asked of an action. */
export interface ActionOptions {
  /** The largest share of acted-on rows that may be wrong. */
  readonly maxRisk: number;
  /** How sure the promise is. */
  readonly confidence: number;
  /** Also gives the weaker threshold that holds on average. */
  readonly onAverage: boolean;
  readonly costs: Costs | null;
  readonly seed: number;
  /** Why no promise is given, or null where one may be. */
  readonly noPromise: string | null;
}

/** What may be done without asking. */
export interface ActionReport {
  /** `yes`, `no`, or `top` for the most probable option or level. */
  readonly action: LockedThreshold["action"];
  readonly riskCoverage: readonly RiskCoveragePoint[];
  readonly promised: LockedThreshold | null;
  /** Share of all rows at the promised threshold and above. */
  readonly coverage: number | null;
  /** The smallest risk that these labels can promise, and where; null where they can promise none. */
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

/** Returns what each action of a question comes to. */
export function actionsOfRows(rows: LabelledRows, options: ActionOptions): ActionReport[] {
  if (rows.kind !== "boolean") return [actionOf(rows, "top", options)];
  return [actionOf(rows, "yes", options), actionOf(rows, "no", options)];
}

/** Returns how sure a row is of an action, and whether acting on it would be wrong. */
export function actionRows(
  { p, cameTrue }: Pick<LabelledRows, "p" | "cameTrue">,
  action: LockedThreshold["action"],
): { sureness: Float64Array; wrong: Uint8Array } {
  if (action !== "no") return { sureness: p, wrong: cameTrue.map((isTrue) => 1 - isTrue) };
  // Rounded again: 1 − 0.83 is not the number that is printed as 0.17.
  return { sureness: p.map((yes) => Math.round(1e12 * (1 - yes)) / 1e12), wrong: cameTrue };
}

function actionOf(
  rows: LabelledRows,
  action: LockedThreshold["action"],
  options: ActionOptions,
): ActionReport {
  const { maxRisk, confidence, seed, onAverage, noPromise } = options;
  const { weights, question } = rows;
  const { sureness, wrong } = actionRows(rows, action);
  const curve = riskCoverage(sureness, wrong, { weights });
  const { promised: found, smallest } =
    noPromise === null
      ? searchPromise(sureness, wrong, { maxRisk, confidence, weights, seed })
      : { promised: null, smallest: null };
  const locked = { question, action, maxRisk, confidence };
  const least = found?.threshold ?? 2;
  const isOnAverage = onAverage && weights === undefined;
  return {
    action,
    riskCoverage: curve,
    promised: found === null ? null : toLocked(found, locked),
    coverage: curve.findLast(({ threshold }) => threshold >= least)?.coverage ?? null,
    smallest,
    onAverage: isOnAverage ? conformalRiskControl(sureness, wrong, { maxRisk }) : null,
    cost: cheapestOf({ sureness, wrong, weights }, options),
  };
}

function toLocked(
  { threshold, acted, wrong }: PromisedThreshold,
  { question, action, maxRisk, confidence }: Omit<LockedThreshold, "threshold" | "n" | "wrong">,
): LockedThreshold {
  return { question, action, threshold, maxRisk, confidence, n: acted, wrong };
}

function cheapestOf(
  rows: {
    readonly sureness: Float64Array;
    readonly wrong: Uint8Array;
    readonly weights: LabelledRows["weights"];
  },
  { costs }: ActionOptions,
): ActionReport["cost"] {
  if (costs === null) return null;
  const { sureness, wrong, weights } = rows;
  const right = wrong.map((isWrong) => 1 - isWrong);
  const cheapest = costThreshold(sureness, right, { ...costs, weights });
  return { ...cheapest, threshold: cheapest.threshold > 1 ? null : cheapest.threshold };
}

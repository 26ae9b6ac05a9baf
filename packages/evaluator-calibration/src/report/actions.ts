import type { LockedThreshold } from "../artifact.ts";
import {
  checkIndexes,
  checkLengths,
  checkProbabilities,
  type Numbers,
  type Weighted,
} from "../math/rows.ts";
import { binomialAtLeast, binomialAtMost } from "../math/special-functions.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { equalRows, LOWEST, type PromiseSearch } from "../thresholds/learn-then-test.ts";
import {
  conformalRiskControl,
  type Costs,
  costThreshold,
  cumulate,
  riskCoverage,
  toHundredths,
} from "../thresholds/risk-coverage.ts";
import type { LabelledRows } from "./labelled-rows.ts";
import { shareOfRows } from "./score-report.ts";

/** `yes`, `no`, or `top` for the most probable option or level. */
type Action = LockedThreshold["action"];

/** How the actions of a report are tested. */
export interface ActionOptions {
  /** The largest share of acted-on rows that may be wrong. */
  readonly maxRisk: number;
  /** How sure all promises of a report are together. */
  readonly confidence: number;
  /** Also gives the weaker threshold that holds on average. */
  readonly onAverage: boolean;
  readonly costs: Costs | null;
}

/** Returns how sure each row is of an action, and whether acting on it would be wrong or is unknown. */
export function actionRows(
  { p, cameTrue }: { readonly p: Numbers; readonly cameTrue: Numbers },
  action: Action,
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

/** Returns the result of an action on labelled rows; without a search nothing is permitted. */
export function reportAction(
  rows: LabelledRows,
  action: Action,
  { search, options }: { readonly search: PromiseSearch | null; readonly options: ActionOptions },
) {
  const { weights } = rows;
  const { maxRisk, costs } = options;
  const { sureness, wrong } = actionRows(rows, action);
  const lowest = LOWEST[action];
  const curve = riskCoverage(sureness, wrong, { weights }).filter(
    ({ threshold }) => threshold >= lowest,
  );
  const promised = search === null ? null : toLocked(search, options);
  const least = promised?.threshold ?? 2;
  const onAverage =
    options.onAverage && search !== null && weights === undefined
      ? conformalRiskControl(sureness, wrong, { maxRisk })
      : null;
  const actedOn = (one: Action) =>
    promised === null || action !== one
      ? null
      : shareOfRows(
          rows,
          (row) => rows.cameTrue[row] === 1,
          (row) => toHundredths(sureness[row] as number) >= toHundredths(least),
        );
  return {
    action,
    riskCoverage: curve,
    promised,
    /** Share of all rows at the promised threshold and above. */
    coverage: curve.findLast(({ threshold }) => threshold >= least)?.coverage ?? null,
    /** The share of all "yes" that acting on yes finds at the promised threshold. */
    found: actedOn("yes"),
    /** The share of all "yes" that acting on no lets through at the promised threshold. */
    passed: actedOn("no"),
    smallest: search?.smallest ?? null,
    /** The lowest threshold at which wrong acts stay below the risk on average, as a share of all rows. */
    onAverage: onAverage === null ? null : Math.max(onAverage, lowest),
    cost:
      search === null || costs === null
        ? null
        : costThreshold(sureness, wrong, { ...costs, weights, lowest }),
  };
}

/** The result of an action on labelled rows. */
export type ActionReport = ReturnType<typeof reportAction>;

/** Returns the threshold of a search in the form of an artifact. */
export function toLocked(
  { promised }: PromiseSearch,
  { maxRisk, confidence }: Pick<ActionOptions, "maxRisk" | "confidence">,
): LockedThreshold | null {
  if (promised === null) return null;
  const { question, action, threshold, level, acted: n, wrong } = promised;
  return { question, action, threshold, maxRisk, confidence, level, method: "fixed", n, wrong };
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
  locked: LockedThreshold,
  { p, cameTrue, weights }: Weighted & { readonly p: Numbers; readonly cameTrue: Numbers },
) {
  const { n, wrong } =
    p.length === 0 ? { n: 0, wrong: 0 } : countActed(locked, { p, cameTrue, weights });
  const doubt = 1 - locked.confidence + 1e-15;
  const holds = n > 0 && binomialAtMost(wrong, n, locked.maxRisk) <= doubt;
  const isBroken = binomialAtLeast(wrong, n, locked.maxRisk) <= doubt;
  const verdict: "holds" | "broken" | "not enough labels" = holds
    ? "holds"
    : isBroken
      ? "broken"
      : "not enough labels";
  return { locked, n, wrong, ...clopperPearson(wrong, n), verdict };
}

/** A locked threshold tried again on other labels: `n` rows at it and above, `wrong` of them. */
export type ThresholdCheck = ReturnType<typeof checkThreshold>;

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

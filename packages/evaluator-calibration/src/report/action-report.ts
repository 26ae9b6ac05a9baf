import type { Action, LockedThreshold } from "../artifact.ts";
import type { Form } from "../kinds.ts";
import { LOWEST, type searchPromises } from "../thresholds/learn-then-test.ts";
import {
  conformalRiskControl,
  type Costs,
  riskCoverage,
  toHundredths,
} from "../thresholds/risk-coverage.ts";
import { crossFittedCost } from "./action-cost.ts";
import { actionRows, type LabelledRows, shareOfRows } from "./labelled-rows.ts";
import type { PlannedPromise } from "./promise-plan.ts";

/** The actions on each form of answers. */
export const actionsOf: Readonly<Record<Form, readonly Action[]>> = {
  probability: ["yes", "no"],
  distribution: ["top"],
};

/** The contents of an action's report. */
export interface ActionOptions {
  /** The largest share of acted-on rows that may be wrong. */
  readonly maxRisk: number;
  /** How sure all promises of a report are together. */
  readonly confidence: number;
  /** Also gives the weaker threshold that holds on average. */
  readonly onAverage: boolean;
  /** Also gives a threshold with a low cost. */
  readonly costs: Costs | null;
}

type Search = ReturnType<typeof searchPromises>[number];

/** An action's search or plan, and the threshold of either. */
interface Tested {
  readonly search: Search | null;
  readonly plan: PlannedPromise | undefined;
  readonly promisedThreshold: LockedThreshold | null;
  readonly options: ActionOptions;
}

/** Returns the result of an action on labelled rows. */
export function reportAction(
  rows: LabelledRows,
  action: Action,
  { search, plan, promisedThreshold, options }: Tested,
) {
  const { weights, cameTrue } = rows;
  const { maxRisk, costs } = options;
  const { sureness, wrong } = actionRows(rows, action);
  const lowest = LOWEST[action];
  const all = sureness.length === 0 ? [] : riskCoverage(sureness, wrong, { weights });
  const curve = all.filter(({ threshold }) => threshold >= lowest);
  const least = promisedThreshold?.threshold ?? 2;
  const onAverage =
    options.onAverage && search !== null && weights === undefined
      ? conformalRiskControl(sureness, wrong, { maxRisk })
      : null;
  const isActedOn = (row: number) => toHundredths(sureness[row] as number) >= toHundredths(least);
  const actedOn = (one: Action, truth: 0 | 1) =>
    promisedThreshold === null || action !== one || all.length === 0
      ? null
      : shareOfRows(rows, isActedOn, { isCounted: (row) => cameTrue[row] === truth });
  return {
    action,
    riskCoverage: curve,
    promised: promisedThreshold,
    /** The labels that were drawn for this action one by one, and about how many more it takes; null if none. */
    drawn: plan === undefined ? null : plan.draw.state,
    /** Share of all rows at the promised threshold and above; of a plan, of all answers. */
    coverage:
      (promisedThreshold && plan?.coverageAt(least)) ??
      curve.findLast(({ threshold }) => threshold >= least)?.coverage ??
      null,
    /** The share of all "yes" that acting on yes finds at the promised threshold. */
    found: actedOn("yes", 1),
    /** The share of all "yes" that acting on no lets through at the promised threshold. */
    passed: actedOn("no", 1),
    /** The share of all "no" that is acted on: for yes the false positive rate. */
    actedOnNo: actedOn("yes", 0) ?? actedOn("no", 0),
    smallest: search?.smallest ?? null,
    /** The lowest threshold at which wrong acts stay below the risk on average, as a share of all rows. */
    onAverage: onAverage === null ? null : Math.max(onAverage, lowest),
    cost:
      search === null || costs === null
        ? null
        : crossFittedCost({ ids: rows.ids, sureness, wrong, weights, lowest }, costs),
  };
}

/** The result of an action on labelled rows. */
export type ActionReport = ReturnType<typeof reportAction>;

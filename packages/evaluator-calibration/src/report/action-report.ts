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
  readonly promiseSearch: Search | null;
  readonly plannedPromise: PlannedPromise | undefined;
  readonly promisedThreshold: LockedThreshold | null;
  readonly options: ActionOptions;
}

/** Returns the result of an action on labelled rows. */
export function reportAction(
  labelledRows: LabelledRows,
  action: Action,
  { promiseSearch, plannedPromise, promisedThreshold, options }: Tested,
) {
  const { weights, cameTrue } = labelledRows;
  const { maxRisk, costs } = options;
  const { sureness, wrong } = actionRows(labelledRows, action);
  const lowestThreshold = LOWEST[action];
  const wholeCurve = sureness.length === 0 ? [] : riskCoverage(sureness, wrong, { weights });
  const allowedCurve = wholeCurve.filter(({ threshold }) => threshold >= lowestThreshold);
  const leastThreshold = promisedThreshold?.threshold ?? 2;
  const onAverage =
    options.onAverage && promiseSearch !== null && weights === undefined
      ? conformalRiskControl(sureness, wrong, { maxRisk })
      : null;
  const isActedOn = (rowIndex: number) =>
    toHundredths(sureness[rowIndex] as number) >= toHundredths(leastThreshold);
  const actedOn = (wantedAction: Action, truthValue: 0 | 1) =>
    promisedThreshold === null || action !== wantedAction || wholeCurve.length === 0
      ? null
      : shareOfRows(labelledRows, isActedOn, {
          isCounted: (rowIndex) => cameTrue[rowIndex] === truthValue,
        });
  return {
    action,
    riskCoverage: allowedCurve,
    promised: promisedThreshold,
    /** The labels that were drawn for this action one by one, and about how many more it takes; null if none. */
    drawn: plannedPromise === undefined ? null : plannedPromise.draw.state,
    /** Share of all rows at the promised threshold and above; of a plan, of all answers. */
    coverage:
      (promisedThreshold && plannedPromise?.coverageAt(leastThreshold)) ??
      allowedCurve.findLast(({ threshold }) => threshold >= leastThreshold)?.coverage ??
      null,
    /** The share of all "yes" that acting on yes finds at the promised threshold. */
    found: actedOn("yes", 1),
    /** The share of all "yes" that acting on no lets through at the promised threshold. */
    passed: actedOn("no", 1),
    /** The share of all "no" that is acted on: for yes the false positive rate. */
    actedOnNo: actedOn("yes", 0) ?? actedOn("no", 0),
    smallest: promiseSearch?.smallest ?? null,
    /** The lowest threshold at which wrong acts stay below the risk on average, as a share of all rows. */
    onAverage: onAverage === null ? null : Math.max(onAverage, lowestThreshold),
    cost:
      promiseSearch === null || costs === null
        ? null
        : crossFittedCost(
            { ids: labelledRows.ids, sureness, wrong, weights, lowest: lowestThreshold },
            costs,
          ),
  };
}

/** The result of an action on labelled rows. */
export type ActionReport = ReturnType<typeof reportAction>;

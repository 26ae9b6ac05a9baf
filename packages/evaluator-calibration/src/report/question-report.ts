import type { LockedThreshold } from "../artifact.ts";
import type { Form } from "../kinds.ts";
import { hashToShare } from "../math/random.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/probability-scores.ts";
import { curveOfRows } from "../scores/reliability.ts";
import { neededLabels } from "../thresholds/intervals.ts";
import { LOWEST, searchPromises } from "../thresholds/learn-then-test.ts";
import {
  conformalRiskControl,
  type Costs,
  costThreshold,
  riskCoverage,
  toHundredths,
} from "../thresholds/risk-coverage.ts";
import { LEAST_JUDGED, reportGroups } from "./group-report.ts";
import { judgeLabels } from "./label-quality.ts";
import {
  actionRows,
  type Estimate,
  type LabelledRows,
  probabilityOf,
  type Rows,
  rowsByIndex,
  shareOfRows,
  takeRows,
} from "./labelled-rows.ts";
import { recalibrateRows } from "./recalibrate.ts";
import { scoreRows } from "./score-report.ts";

/** `yes`, `no`, or `top` for the most probable option or level. */
type Action = LockedThreshold["action"];

/** The contents of a report. */
export interface ReportOptions {
  /** The largest share of acted-on rows that may be wrong. */
  readonly maxRisk: number;
  /** How sure all promises of a report are together. */
  readonly confidence: number;
  /** Also gives the weaker threshold that holds on average. */
  readonly onAverage: boolean;
  /** Also gives the cheapest threshold. */
  readonly costs: Costs | null;
  readonly seed: number;
  /** Takes one label of each cluster for promises. @default false */
  readonly isOnePer?: boolean;
  /** Also reports each group of the labels, which shares the level. @default false */
  readonly hasGroups?: boolean;
  /** Only these actions are reported, and share the level of the promise. @default all */
  readonly actions?: readonly { readonly question: string; readonly action: Action }[] | undefined;
}

/** The actions on each form of answers. */
const actionsOf: Readonly<Record<Form, readonly Action[]>> = {
  probability: ["yes", "no"],
  distribution: ["top"],
};

/**
 * Returns the report of each question; all their actions share the level of the promise.
 *
 * @example reportQuestions(join.columns.map((joined) => toLabelledRows(joined)), options)
 */
export function reportQuestions(
  questions: readonly LabelledRows[],
  options: ReportOptions,
): QuestionReport[] {
  const drafts = questions.map((rows) => draftOf(rows, options));
  const searches = searchPromises(
    drafts.flatMap(({ promises }) => promises),
    options,
  );
  return drafts.map((draft) => toReport(draft, searches, options));
}

/** Returns the findings about a question before its promises. */
function draftOf(
  rows: LabelledRows,
  { actions: wanted, isOnePer = false, hasGroups = false }: ReportOptions,
) {
  const { question, form } = rows;
  const tested = isOnePer ? onePerCluster(rows.tested) : rows.tested;
  const labels = judgeLabels(tested);
  const isWanted = (action: Action) =>
    wanted?.some((one) => one.question === question && one.action === action) ?? true;
  const actions = rows.ids.length < LEAST_JUDGED ? [] : actionsOf[form].filter(isWanted);
  const parts = [{ group: null, part: tested }, ...(hasGroups ? judgedGroups(tested) : [])];
  const promises = parts.flatMap(({ group, part }) =>
    actions.map((action) => {
      return { question, action, group, weights: part.weights, ...actionRows(part, action) };
    }),
  );
  return { rows, labels, actions, promises: labels.noPromise === null ? promises : [] };
}

/** Returns one row of each cluster, the same in any order, and all rows without one. */
function onePerCluster(rows: Rows): Rows {
  const shareOf = (row: number) => hashToShare(rows.ids[row] as string);
  const taken = [...rowsByIndex(rows.clusterOf)].flatMap(([cluster, members]) =>
    cluster === -1
      ? members
      : members.reduce((one, other) => (shareOf(other) < shareOf(one) ? other : one)),
  );
  return takeRows(rows, taken);
}

function judgedGroups(tested: Rows) {
  return [...rowsByIndex(tested.groupOf)].flatMap(([index, taken]) => {
    const group = tested.joined.join.groups.list[index];
    if (group === undefined || taken.length < LEAST_JUDGED) return [];
    return [{ group, part: takeRows(tested, taken) }];
  });
}

type Draft = ReturnType<typeof draftOf>;
/** The result of a search for a promise of an action; of a group only if groups are reported. */
type Search = ReturnType<typeof searchPromises<Draft["promises"][number]>>[number];

function toReport(
  { rows, labels, actions, promises }: Draft,
  searches: readonly Search[],
  options: ReportOptions,
) {
  const { seed, isOnePer = false, hasGroups = false } = options;
  const { question, kind, form, source, truth, top, weights, tested } = rows;
  const { join } = rows.joined;
  const n = rows.ids.length;
  const scores = scoreRows(rows);
  const verdict = verdictOf(scores.skill);
  // Answers that are no better than a constant permit nothing, however seldom the constant is wrong.
  const own = verdict === "useful" ? searches.filter(({ asked }) => promises.includes(asked)) : [];
  const rateOf = (side: 0 | 1) => {
    const isSide = (row: number) => truth[row] === side;
    return form === "probability" ? shareOfRows(rows, (row) => top[row] === side, isSide) : null;
  };
  return {
    question,
    kind,
    form,
    source,
    n,
    isWeighted: weights !== undefined,
    labelers: labels.labelers,
    agreements: labels.agreements,
    ceiling: labels.ceiling,
    /** How many clusters the labels are from; null if each is one. */
    clusters: clustersOf(tested),
    /** Whether a promise takes one label of each cluster. */
    isOnePer,
    /** `worthless` if the labels do not show it to beat the constant prediction. */
    verdict,
    scores,
    /** Of yes and no at 0.5: the share of all yes answered with yes, and of all no with no. */
    tpr: rateOf(1),
    tnr: rateOf(0),
    /** Under 30 rows there are no curve and no actions. */
    curve: n >= LEAST_JUDGED ? curveOfRows(rows, seed) : null,
    actions: actions.map((action) => {
      const isOf = ({ asked }: Search) => asked.group === null && asked.action === action;
      return reportAction(rows, action, { search: own.find(isOf) ?? null, options });
    }),
    /** The reason for no promise, or null. */
    noPromise: labels.noPromise,
    recalibration: recalibrateRows(rows, scores.logLoss.value),
    groups: hasGroups
      ? reportGroups(rows, (group) =>
          own
            .filter(({ asked }) => asked.group === group)
            .flatMap((search) => toLocked(search, options) ?? []),
        )
      : [],
    worst: worstRows(rows),
    needed: neededLabels(options, searches.length),
    counts: join.countsOf(question),
  };
}

/** The worth of the answers of one source to one question. */
export type QuestionReport = ReturnType<typeof toReport>;

function clustersOf({ clusterOf }: Rows) {
  const [labels, named] = [clusterOf.length, clusterOf.filter((cluster) => cluster >= 0)];
  const n = labels - named.length + new Set(named).size;
  return n < labels ? { n, labels } : null;
}

// A skill whose interval includes 0 can be the luck of guessing the base rate.
function verdictOf(skill: Estimate): "useful" | "worthless" | "one truth only" {
  if (Number.isNaN(skill.value)) return "one truth only";
  return skill.low > 0 ? "useful" : "worthless";
}

/** Returns the result of an action on labelled rows; without a search nothing is permitted. */
function reportAction(
  rows: LabelledRows,
  action: Action,
  { search, options }: { readonly search: Search | null; readonly options: ReportOptions },
) {
  const { weights, cameTrue } = rows;
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
  const isActedOn = (row: number) => toHundredths(sureness[row] as number) >= toHundredths(least);
  const actedOn = (one: Action, truth: 0 | 1) =>
    promised === null || action !== one
      ? null
      : shareOfRows(rows, isActedOn, (row) => cameTrue[row] === truth);
  return {
    action,
    riskCoverage: curve,
    promised,
    /** Share of all rows at the promised threshold and above. */
    coverage: curve.findLast(({ threshold }) => threshold >= least)?.coverage ?? null,
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
        : costThreshold(sureness, wrong, { ...costs, weights, lowest }),
  };
}

/** The result of an action on labelled rows. */
export type ActionReport = ReturnType<typeof reportAction>;

/** Returns the threshold of a search in the form of an artifact. */
function toLocked(
  { promised }: Search,
  { maxRisk, confidence }: ReportOptions,
): LockedThreshold | null {
  if (promised === null) return null;
  const { question, action, threshold, level, acted: n, wrong } = promised;
  return { question, action, threshold, maxRisk, confidence, level, method: "fixed", n, wrong };
}

const WORST_ROWS = 20;

/** Returns the rows whose truth has the lowest printed probability, the worst first. */
function worstRows(rows: Rows) {
  const { ids, truth, top, options } = rows;
  const worst: { row: number; id: string; probability: number }[] = [];
  for (let row = 0; row < truth.length; row += 1) {
    const probability = probabilityOf(rows, row, truth[row] as number);
    const last = worst[WORST_ROWS - 1]?.probability ?? 1 - HALF_A_PRINTED_UNIT;
    if (probability > last || probability >= 1 - HALF_A_PRINTED_UNIT) continue;
    const one = { row, id: ids[row] as string, probability };
    // Equals are in the order of their ids: the result is the same in any order of the rows.
    const before = worst.findLastIndex(
      (other) =>
        other.probability < probability || (other.probability === probability && other.id < one.id),
    );
    worst.splice(before + 1, 0, one);
    worst.length = Math.min(worst.length, WORST_ROWS);
  }
  return worst.map(({ row, id, probability }) => ({
    id,
    truth: options[truth[row] as number] ?? "",
    answer: options[top[row] as number] ?? "",
    probability,
  }));
}

import type { LockedThreshold } from "../artifact.ts";
import type { JoinedColumn, LabelJoin } from "../input/join-labels.ts";
import type { Form } from "../kinds.ts";
import { holm, twoSidedP } from "../math/special-functions.ts";
import { curveOfRows } from "../scores/reliability.ts";
import { labelsForBound, labelsForWidth, labelsForZeroErrors } from "../thresholds/intervals.ts";
import {
  type PromiseAction,
  type PromiseSearch,
  searchPromises,
} from "../thresholds/learn-then-test.ts";
import { type ActionOptions, actionRows, reportAction, toLocked } from "./actions.ts";
import { judgeLabels } from "./label-quality.ts";
import {
  type LabelledRows,
  onePerCluster,
  rowsByGroup,
  takeRows,
  takeTested,
  type TestedRows,
  toLabelledRows,
  truthShares,
} from "./labelled-rows.ts";
import { recalibrateRows } from "./recalibrate.ts";
import { brierOf, type Estimate, scoreRows, shareOfRows, worstRows } from "./score-report.ts";

type Action = LockedThreshold["action"];

/** Fewer labelled rows are listed and not judged. Chosen, not measured. */
export const LEAST_JUDGED = 30;

/** The contents of a report. */
export interface ReportOptions extends ActionOptions {
  readonly seed: number;
  /** Takes one label of each cluster for promises. @default false */
  readonly isOnePer?: boolean;
  /** Also reports each group of the labels, which shares the level. @default false */
  readonly hasGroups?: boolean;
  /** Only these actions are reported, and share the level of the promise. @default all */
  readonly actions?: readonly { readonly question: string; readonly action: Action }[] | undefined;
}

/** The labelled answers to one question. */
export interface ReportedRows {
  readonly joined: JoinedColumn;
  readonly join: LabelJoin;
  /** Some of the rows, such as those that other engines answered as well. @default all */
  readonly rows?: LabelledRows;
}

/** The actions on each form of answers. */
const actionsOf: Readonly<Record<Form, readonly Action[]>> = {
  probability: ["yes", "no"],
  distribution: ["top"],
};

/**
 * Returns the report of each question; all their actions share the level of the promise.
 *
 * @example reportQuestions(join.columns.map((joined) => ({ joined, join })), options)
 */
export function reportQuestions(
  reported: readonly ReportedRows[],
  options: ReportOptions,
): QuestionReport[] {
  const drafts = reported.map((one) => draftOf(one, options));
  const all = drafts.flatMap(({ promises }) => promises);
  const searches = searchPromises(all, options);
  const found = new Map(all.map((promise, at) => [promise, searches[at] as PromiseSearch]));
  return drafts.map((draft) => toReport(draft, found, options));
}

/** An action to test; of a group only if groups are reported. */
interface DraftPromise extends PromiseAction {
  readonly group: string | null;
}

/** The findings about a question before its promises. */
type Draft = ReturnType<typeof draftOf>;

function draftOf(
  { joined, join, rows = toLabelledRows(joined) }: ReportedRows,
  { actions: wanted, isOnePer = false, hasGroups = false }: ReportOptions,
) {
  const { question, form } = rows;
  const tested = isOnePer ? onePerCluster(rows.tested) : rows.tested;
  const labels = judgeLabels(joined, join.labelers.list, tested);
  const isWanted = (action: Action) =>
    wanted?.some((one) => one.question === question && one.action === action) ?? true;
  const actions = rows.ids.length < LEAST_JUDGED ? [] : actionsOf[form].filter(isWanted);
  const parts = [{ group: null, part: tested }, ...(hasGroups ? judgedGroups(tested, join) : [])];
  const promises = parts.flatMap(({ group, part }) =>
    actions.map((action): DraftPromise => {
      return { question, action, group, weights: part.weights, ...actionRows(part, action) };
    }),
  );
  return { join, rows, labels, actions, promises: labels.noPromise === null ? promises : [] };
}

function judgedGroups(tested: TestedRows, { groups }: LabelJoin) {
  return [...rowsByGroup(tested.groupOf)].flatMap(([index, taken]) => {
    const group = groups.list[index];
    if (group === undefined || taken.length < LEAST_JUDGED) return [];
    return [{ group, part: takeTested(tested, taken) }];
  });
}

function toReport(
  { join, rows, labels, actions, promises }: Draft,
  found: ReadonlyMap<DraftPromise, PromiseSearch>,
  options: ReportOptions,
) {
  const { labelers, agreements, noPromise } = labels;
  const { seed, isOnePer = false, hasGroups = false } = options;
  const n = rows.ids.length;
  const scores = scoreRows(rows);
  const verdict = verdictOf(scores.skill);
  // Answers that are no better than a constant permit nothing, however seldom the constant is wrong.
  const permitted = verdict === "useful" ? promises : [];
  const searchOf = (action: Action) =>
    found.get(permitted.find((one) => one.group === null && one.action === action) as DraftPromise);
  const promisedTo = (name: string) =>
    permitted
      .filter(({ group }) => group === name)
      .flatMap((one) => toLocked(found.get(one) as PromiseSearch, options) ?? []);
  const rates = { probability: [rateOf(rows, 1), rateOf(rows, 0)], distribution: [] }[rows.form];
  const [tpr = null, tnr = null] = rates;
  return {
    question: rows.question,
    kind: rows.kind,
    form: rows.form,
    source: rows.source,
    n,
    isWeighted: rows.weights !== undefined,
    labelers,
    agreements,
    /** How many clusters the labels are from; null if each is one, or a promise takes one of each. */
    clusters: isOnePer ? null : clustersOf(rows.tested),
    /** `worthless` if the labels do not show it to beat the constant prediction. */
    verdict,
    scores,
    /** Of yes and no at 0.5: the share of all yes answered with yes, and of all no with no. */
    tpr,
    tnr,
    /** Under 30 rows there are no curve and no actions. */
    curve: n >= LEAST_JUDGED ? curveOfRows(rows, seed) : null,
    actions: actions.map((action) =>
      reportAction(rows, action, { search: searchOf(action) ?? null, options }),
    ),
    /** The reason for no promise, or null. */
    noPromise,
    recalibration: recalibrateRows(rows),
    groups: hasGroups ? groupsOfRows(rows, join.groups.list, promisedTo) : [],
    worst: worstRows(rows),
    needed: neededLabels(options, found.size),
    counts: join.countsOf(rows.question),
  };
}

/** The worth of the answers of one source to one question. */
export type QuestionReport = ReturnType<typeof toReport>;

/** Returns how many more labels it takes. */
function neededLabels({ maxRisk, confidence }: ReportOptions, actions: number) {
  const shared = 1 - (1 - confidence) / Math.max(1, actions);
  return {
    /** For accuracy to plus or minus 5 points. */
    forFivePoints: labelsForWidth(0.05),
    /** Acted-on labels, all right, for the requested promise. */
    forPromiseWithoutErrors: labelsForZeroErrors({ maxRisk, confidence: shared }),
    /** Acted-on labels for an 80 % chance of that promise, if the true risk is 2 fifths of it. */
    forPromise: labelsForBound({ rate: 0.4 * maxRisk, maxRisk, confidence: shared }),
  };
}

function rateOf({ truth, top, weights }: LabelledRows, side: 0 | 1) {
  const isHit = (row: number) => top[row] === side;
  return shareOfRows({ truth, weights }, (row) => truth[row] === side, isHit);
}

function clustersOf({ clusterOf }: TestedRows) {
  const [labels, named] = [clusterOf.length, clusterOf.filter((cluster) => cluster >= 0)];
  const n = labels - named.length + new Set(named).size;
  return n < labels ? { n, labels } : null;
}

// A skill whose interval includes 0 can be the luck of guessing the base rate.
function verdictOf(skill: Estimate): "useful" | "worthless" | "one truth only" {
  if (Number.isNaN(skill.value)) return "one truth only";
  return skill.low > 0 ? "useful" : "worthless";
}

/** Returns the report of each group, the largest first; under 30 rows without a p value. */
function groupsOfRows(
  rows: LabelledRows,
  names: readonly string[],
  promisedTo: (group: string) => readonly LockedThreshold[],
) {
  const groups = [...rowsByGroup(rows.groupOf)].map(([group, taken]) =>
    groupOf(names[group] ?? "(none)", takeRows(rows, taken)),
  );
  const judged = groups.filter(({ n }) => n >= LEAST_JUDGED);
  const adjusted = holm(judged.map(({ pValue }) => pValue));
  return groups
    .map((group) => {
      const pValue = adjusted[judged.indexOf(group)] ?? null;
      /** The thresholds that are promised for this group alone. */
      const promised = promisedTo(group.group);
      return Object.assign(group, { pValue, promised });
    })
    .toSorted((one, other) => other.n - one.n || (one.group < other.group ? -1 : 1));
}

function groupOf(group: string, rows: LabelledRows) {
  const { p, cameTrue, weights } = rows;
  let [total, distance, square, spread, brier] = [0, 0, 0, 0, 0];
  for (let i = 0; i < p.length; i += 1) {
    const weight = weights?.[i] ?? 1;
    const [value, isTrue] = [p[i] as number, cameTrue[i] as number];
    total += weight;
    distance += weight * (isTrue - value);
    square += weight ** 2 * (isTrue - value) ** 2;
    spread += weight ** 2 * value * (1 - value);
    brier += weight * brierOf(rows, i);
  }
  const value = distance / total;
  const half = (1.96 * Math.sqrt(square)) / total;
  const hasOneTruth = truthShares(rows).includes(1);
  return {
    group,
    n: p.length,
    brier: brier / total,
    /** Null if every row of the group has one truth. */
    skill: hasOneTruth ? null : scoreRows(rows).skill.value,
    /** The share of true rows minus the mean probability, with its 95 % interval. */
    difference: { value, low: value - half, high: value + half },
    pValue: spread === 0 ? (distance === 0 ? 1 : 0) : twoSidedP(distance / Math.sqrt(spread)),
  };
}

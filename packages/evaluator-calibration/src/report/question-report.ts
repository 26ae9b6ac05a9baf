import type { AnswerSource } from "../input/read-answers.ts";
import type { JoinCounts, JoinedColumn, LabelJoin } from "../input/join-labels.ts";
import type { Form, QuestionKind } from "../kinds.ts";
import { labelsForBound, labelsForWidth, labelsForZeroErrors } from "../thresholds/intervals.ts";
import {
  type PromiseAction,
  type PromiseSearch,
  searchPromises,
} from "../thresholds/learn-then-test.ts";
import {
  type Action,
  type ActionOptions,
  type ActionReport,
  actionRows,
  reportAction,
  toLocked,
} from "./actions.ts";
import { type CurveReport, curveOfRows } from "./curve-report.ts";
import { type GroupReport, groupsOfRows, LEAST_JUDGED } from "./group-report.ts";
import {
  agreementsOf,
  isFairDraw,
  isOfFamily,
  type Labeler,
  type LabelerAgreement,
  labelersOf,
} from "./label-quality.ts";
import {
  type LabelledRows,
  onePerCluster,
  rowsByGroup,
  takeTested,
  type TestedRows,
  toLabelledRows,
} from "./labelled-rows.ts";
import { recalibrateRows, type RecalibrationReport } from "./recalibrate.ts";
import {
  type Estimate,
  type ScoreReport,
  scoreRows,
  shareOfRows,
  type WorstRow,
  worstRows,
} from "./score-report.ts";

/** How many more labels it takes. */
interface NeededLabels {
  /** For accuracy to plus or minus 5 points. */
  readonly forFivePoints: number;
  /** Acted-on labels, all right, for the requested promise. */
  readonly forPromiseWithoutErrors: number;
  /** Acted-on labels for an 80 % chance of that promise, if the true risk is 2 fifths of it. */
  readonly forPromise: number;
}

/** The worth of the answers of one source to one question. */
export interface QuestionReport {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly form: Form;
  readonly source: AnswerSource;
  readonly n: number;
  readonly isWeighted: boolean;
  readonly labelers: readonly Labeler[];
  /** How far each two labelers agree; empty if no record has two labels. */
  readonly agreements: readonly LabelerAgreement[];
  /** How many clusters the labels are from; null if each is one, or a promise takes one of each. */
  readonly clusters: { readonly n: number; readonly labels: number } | null;
  /** `useful`, or `worthless` if the labels do not show it to beat the constant predictor. */
  readonly verdict: "useful" | "worthless" | "one truth only";
  readonly scores: ScoreReport;
  /** Of yes and no at 0.5: the share of all yes answered with yes, and of all no with no. */
  readonly tpr: Estimate | null;
  readonly tnr: Estimate | null;
  /** Null under 30 rows. */
  readonly curve: CurveReport | null;
  /** Empty under 30 rows. */
  readonly actions: readonly ActionReport[];
  /** The reason for no promise, or null. */
  readonly noPromise: string | null;
  readonly recalibration: RecalibrationReport;
  /** Empty if the labels name no groups. */
  readonly groups: readonly GroupReport[];
  readonly worst: readonly WorstRow[];
  readonly needed: NeededLabels;
  readonly counts: JoinCounts;
}

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
  const labelers = labelersOf(joined, join.labelers.list);
  const tested = isOnePer ? onePerCluster(rows.tested) : rows.tested;
  const noPromise = reasonForNoPromise(rows, labelers, isFairDraw(joined.column, tested));
  const isWanted = (action: Action) =>
    wanted?.some((one) => one.question === question && one.action === action) ?? true;
  const actions = rows.ids.length < LEAST_JUDGED ? [] : actionsOf[form].filter(isWanted);
  const parts = [{ group: null, part: tested }, ...(hasGroups ? judgedGroups(tested, join) : [])];
  const promises = parts.flatMap(({ group, part }) =>
    actions.map((action): DraftPromise => {
      return { question, action, group, weights: part.weights, ...actionRows(part, action) };
    }),
  );
  const kept = noPromise === null ? promises : [];
  return { joined, join, rows, labelers, noPromise, actions, promises: kept };
}

function judgedGroups(tested: TestedRows, { groups }: LabelJoin) {
  return [...rowsByGroup(tested.groupOf)].flatMap(([index, taken]) => {
    const group = groups.list[index];
    if (group === undefined || taken.length < LEAST_JUDGED) return [];
    return [{ group, part: takeTested(tested, taken) }];
  });
}

function toReport(
  { joined, join, rows, labelers, noPromise, actions, promises }: Draft,
  found: ReadonlyMap<DraftPromise, PromiseSearch>,
  options: ReportOptions,
): QuestionReport {
  const { seed, isOnePer = false, hasGroups = false } = options;
  const n = rows.ids.length;
  const scores = scoreRows(rows);
  const verdict = verdictOf(scores);
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
    agreements: agreementsOf(joined, join.labelers.list),
    clusters: isOnePer ? null : clustersOf(rows.tested),
    verdict,
    scores,
    tpr,
    tnr,
    curve: n >= LEAST_JUDGED ? curveOfRows(rows, seed) : null,
    actions: actions.map((action) =>
      reportAction(rows, action, { search: searchOf(action) ?? null, options }),
    ),
    noPromise,
    recalibration: recalibrateRows(rows),
    groups: hasGroups ? groupsOfRows(rows, join.groups.list, promisedTo) : [],
    worst: worstRows(rows),
    needed: neededLabels(options, found.size),
    counts: join.countsOf(rows.question),
  };
}

function neededLabels({ maxRisk, confidence }: ReportOptions, actions: number): NeededLabels {
  const shared = 1 - (1 - confidence) / Math.max(1, actions);
  return {
    forFivePoints: labelsForWidth(0.05),
    forPromiseWithoutErrors: labelsForZeroErrors({ maxRisk, confidence: shared }),
    forPromise: labelsForBound({ rate: 0.4 * maxRisk, maxRisk, confidence: shared }),
  };
}

function rateOf({ truth, top, weights }: LabelledRows, side: 0 | 1): Estimate {
  const isHit = (row: number) => top[row] === side;
  return shareOfRows({ truth, weights }, (row) => truth[row] === side, isHit);
}

function clustersOf({ clusterOf }: TestedRows): QuestionReport["clusters"] {
  const [labels, named] = [clusterOf.length, clusterOf.filter((cluster) => cluster >= 0)];
  const n = labels - named.length + new Set(named).size;
  return n < labels ? { n, labels } : null;
}

// A skill whose interval includes 0 can be the luck of guessing the base rate.
function verdictOf({ skill }: ScoreReport): QuestionReport["verdict"] {
  if (Number.isNaN(skill.value)) return "one truth only";
  return skill.low > 0 ? "useful" : "worthless";
}

function reasonForNoPromise(
  { source, weights }: LabelledRows,
  labelers: readonly Labeler[],
  isFair: boolean,
): string | null {
  if (!isFair) {
    const [weighted, why] =
      weights === undefined
        ? ["", ", and the labels have no weights"]
        : [", by their weights,", ""];
    return `The printed values of the labelled records${weighted} differ from those of the others by more than chance${why}: nothing is promised from them. Draw with pick, and keep its column drawn.`;
  }
  const kin = labelers.find(({ name }) => isOfFamily(name, source.modelId));
  if (kin === undefined) return null;
  return `Labels made by ${kin.name} come from the answering model's own family: they share its mistakes, so nothing is promised from them.`;
}

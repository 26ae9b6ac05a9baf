import type { LockedThreshold, Recalibration } from "../artifact/artifact.ts";
import type { AnswerSource, QuestionKind } from "../input/answer-table.ts";
import type { JoinCounts, JoinedColumn, LabelJoin } from "../input/join-labels.ts";
import { labelsForBound, labelsForWidth, labelsForZeroErrors } from "../thresholds/intervals.ts";
import {
  type PromiseAction,
  type PromiseSearch,
  searchPromises,
} from "../thresholds/learn-then-test.ts";
import {
  type ActionOptions,
  type ActionReport,
  actionRows,
  reportAction,
  toLocked,
} from "./action-report.ts";
import { type CurveReport, curveOfRows } from "./curve-report.ts";
import { type GroupReport, groupsOfRows, LEAST_JUDGED } from "./group-report.ts";
import { isFairDraw } from "./fair-draw.ts";
import {
  type LabelledRows,
  onePerCluster,
  rowsByGroup,
  takeTested,
  type TestedRows,
  toLabelledRows,
} from "./labelled-rows.ts";
import { agreementsOf, type Labeler, type LabelerAgreement, labelersOf } from "./labelers.ts";
import { recalibrateRows, type RecalibrationReport } from "./recalibrate.ts";
import { type Estimate, type ScoreReport, scoreRows, shareOfRows } from "./score-report.ts";
import { type WorstRow, worstRows } from "./worst-rows.ts";

/** How many more labels it takes. */
export interface NeededLabels {
  /** For accuracy to plus or minus 5 points. */
  readonly forFivePoints: number;
  /** Acted-on labels, all right, for the promise that was asked for. */
  readonly forPromiseWithoutErrors: number;
  /** Acted-on labels for an 80 % chance of that promise, where the true risk is 2 fifths of it. */
  readonly forPromise: number;
}

/** What the answers of one source to one question are worth. */
export interface QuestionReport {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly source: AnswerSource;
  readonly n: number;
  readonly isWeighted: boolean;
  readonly labelers: readonly Labeler[];
  /** How far each two labelers agree; empty if no record has two labels. */
  readonly agreements: readonly LabelerAgreement[];
  /** From how many clusters how many labels come; null if each is one, or a promise takes one of each. */
  readonly clusters: { readonly n: number; readonly labels: number } | null;
  /** `useful`, or `worthless` where the labels do not show it to beat the constant predictor. */
  readonly verdict: "useful" | "worthless" | "one truth only";
  readonly scores: ScoreReport;
  /** Of a boolean at 0.5: the share of all yes answered with yes, and of all no with no. */
  readonly tpr: Estimate | null;
  readonly tnr: Estimate | null;
  /** Null under 30 rows. */
  readonly curve: CurveReport | null;
  /** Empty under 30 rows. */
  readonly actions: readonly ActionReport[];
  /** Why no promise is given, or null. */
  readonly noPromise: string | null;
  readonly recalibration: RecalibrationReport;
  /** Empty where the labels name no groups. */
  readonly groups: readonly GroupReport[];
  readonly worst: readonly WorstRow[];
  readonly needed: NeededLabels;
  readonly counts: JoinCounts;
}

/** What a report is asked for. */
export interface ReportOptions extends ActionOptions {
  readonly seed: number;
  /** Takes one label of each cluster for promises. @default false */
  readonly isOnePer?: boolean;
  /** Also reports each group of the labels, which shares the level. @default false */
  readonly hasGroups?: boolean;
  /** Only these actions are reported, and share the level of the promise. @default all */
  readonly actions?: readonly Pick<LockedThreshold, "question" | "action">[] | undefined;
}

/** The labelled answers to one question. */
export interface ReportedRows {
  readonly joined: JoinedColumn;
  readonly join: LabelJoin;
  /** Some of the rows, such as those that other engines answered as well. @default all */
  readonly rows?: LabelledRows;
}

/** Returns the report of each question; all their actions share the level of the promise. */
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

/** An action to test; of a group only where groups are wanted. */
interface DraftPromise extends PromiseAction {
  readonly group: string | null;
}

/** What is known of a question before its promises. */
interface Draft extends Required<ReportedRows> {
  readonly labelers: readonly Labeler[];
  readonly noPromise: string | null;
  readonly actions: readonly LockedThreshold["action"][];
  readonly promises: readonly DraftPromise[];
}

function draftOf(
  { joined, join, rows = toLabelledRows(joined) }: ReportedRows,
  { actions: wanted, isOnePer = false, hasGroups = false }: ReportOptions,
): Draft {
  const { question, kind } = rows;
  const labelers = labelersOf(joined, join.labelers.list);
  const tested = isOnePer ? onePerCluster(rows.tested) : rows.tested;
  const noPromise = reasonForNoPromise(rows, labelers, isFairDraw(joined.column, tested));
  const isWanted = (action: LockedThreshold["action"]) =>
    wanted?.some((one) => one.question === question && one.action === action) ?? true;
  const possible = kind === "boolean" ? (["yes", "no"] as const) : (["top"] as const);
  const actions = rows.ids.length < LEAST_JUDGED ? [] : possible.filter(isWanted);
  const parts = [{ group: null, part: tested }, ...(hasGroups ? judgedGroups(tested, join) : [])];
  const promises = parts.flatMap(({ group, part }) =>
    actions.map((action) => {
      return { question, action, group, weights: part.weights, ...actionRows(part, action) };
    }),
  );
  return {
    joined,
    join,
    rows,
    labelers,
    noPromise,
    actions,
    promises: noPromise === null ? promises : [],
  };
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
  const { maxRisk, confidence, seed, isOnePer = false, hasGroups = false } = options;
  const n = rows.ids.length;
  const scores = scoreRows(rows);
  const verdict = verdictOf(scores);
  // Answers that are no better than a constant permit nothing, however seldom the constant is wrong.
  const permitted = verdict === "useful" ? promises : [];
  const searchOf = (action: LockedThreshold["action"]) =>
    found.get(permitted.find((one) => one.group === null && one.action === action) as DraftPromise);
  const promisedTo = (name: string) =>
    permitted.flatMap((one) => {
      const search = one.group === name ? found.get(one) : undefined;
      return search === undefined ? [] : (toLocked(search, options) ?? []);
    });
  const shared = 1 - (1 - confidence) / Math.max(1, found.size);
  return {
    question: rows.question,
    kind: rows.kind,
    source: rows.source,
    n,
    isWeighted: rows.weights !== undefined,
    labelers,
    agreements: agreementsOf(joined, join.labelers.list),
    clusters: isOnePer ? null : clustersOf(rows.tested),
    verdict,
    scores,
    tpr: rows.kind === "boolean" ? rateOf(rows, 1) : null,
    tnr: rows.kind === "boolean" ? rateOf(rows, 0) : null,
    curve: n >= LEAST_JUDGED ? curveOfRows(rows, seed) : null,
    actions: actions.map((action) =>
      reportAction(rows, action, { search: searchOf(action) ?? null, options }),
    ),
    noPromise,
    recalibration: recalibrateRows(rows),
    groups: hasGroups ? groupsOfRows(rows, join.groups.list, promisedTo) : [],
    worst: worstRows(rows),
    needed: {
      forFivePoints: labelsForWidth({ halfWidth: 0.05 }),
      forPromiseWithoutErrors: labelsForZeroErrors({ maxRisk, confidence: shared }),
      forPromise: labelsForBound({ rate: 0.4 * maxRisk, maxRisk, confidence: shared }),
    },
    counts: join.countsOf(rows.question),
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

/** Returns what an artifact keeps of reports: recalibrations and promised thresholds. */
export function toKeep(reports: readonly QuestionReport[]): {
  recalibrations: Record<string, Recalibration>;
  thresholds: LockedThreshold[];
} {
  const fitted = reports.flatMap(({ question, recalibration: { recalibration } }) =>
    recalibration === null ? [] : [[question, recalibration] as const],
  );
  const promised = reports.flatMap(({ actions }) => actions.map((action) => action.promised));
  return {
    recalibrations: Object.fromEntries(fitted),
    thresholds: promised.filter((threshold) => threshold !== null),
  };
}

// Skill whose interval reaches 0 is what guessing the base rate has by luck.
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

/** Returns whether a labeler is a model of the same maker or name as the one that answered. */
function isOfFamily(labeler: string, modelId: string | null): boolean {
  if (labeler === "" || modelId === null) return false;
  const [one, other] = [familyOf(labeler), familyOf(modelId)];
  const isSameMaker = one.maker !== null && one.maker === other.maker;
  return isSameMaker || one.name === other.name;
}

function familyOf(id: string): { maker: string | null; name: string } {
  const parts = id.toLowerCase().split("/");
  const name = (parts.at(-1) ?? "").split(/[-.:@_ ]/, 1)[0] ?? "";
  return { maker: parts.length > 1 ? (parts.at(-2) ?? null) : null, name };
}

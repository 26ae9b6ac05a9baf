import type { LockedThreshold, Recalibration } from "../artifact/artifact.ts";
import type { AnswerSource, QuestionKind } from "../input/answer-table.ts";
import type { JoinCounts } from "../input/join-labels.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/boolean-scores.ts";
import { labelsForBound, labelsForWidth, labelsForZeroErrors } from "../thresholds/intervals.ts";
import { type PromiseSearch, searchPromises } from "../thresholds/learn-then-test.ts";
import {
  type ActionOptions,
  type ActionReport,
  actionRows,
  actionsOf,
  reportAction,
} from "./action-report.ts";
import { type CurveReport, curveOfRows } from "./curve-report.ts";
import { type GroupReport, groupsOfRows, LEAST_JUDGED } from "./group-report.ts";
import { type LabelledRows, probabilityOf } from "./labelled-rows.ts";
import { recalibrateRows, type RecalibrationReport } from "./recalibrate.ts";
import { type ScoreReport, scoreRows } from "./score-report.ts";

/** A row that the answers were most wrong about. */
export interface WorstRow {
  readonly id: string;
  /** The label's answer. */
  readonly truth: string;
  /** What was most probable. */
  readonly answer: string;
  /** The printed probability of the truth. */
  readonly probability: number;
}

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
  readonly labelers: readonly { readonly name: string; readonly n: number }[];
  /** `useful`, or `worthless` where the labels do not show it to beat the constant predictor. */
  readonly verdict: "useful" | "worthless" | "one truth only";
  readonly scores: ScoreReport;
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
  /** Only these actions are reported, and share the level of the promise. @default all */
  readonly actions?: readonly Pick<LockedThreshold, "question" | "action">[] | undefined;
}

/** The labelled answers to one question, and what is known of the labels. */
export interface ReportedRows {
  readonly rows: LabelledRows;
  readonly counts: JoinCounts;
  /** The names of `groupOf`; null where no groups are wanted. */
  readonly groups: readonly string[] | null;
  /** The names of `labelerOf`. */
  readonly labelers: readonly string[];
  /** Whether the labels look drawn by chance from the answers. @default true */
  readonly isFairDraw?: boolean;
}

const WORST_ROWS = 20;

/** Returns the report of each question; all their actions share the level of the promise. */
export function reportQuestions(
  reported: readonly ReportedRows[],
  options: ReportOptions,
): QuestionReport[] {
  const drafts = reported.map((one) => draftOf(one, options));
  const actions = drafts.flatMap(({ rows, actions, noPromise }) =>
    noPromise !== null
      ? []
      : actions.map((action) => {
          const { question, weights } = rows;
          return { question, action, weights, ...actionRows(rows, action) };
        }),
  );
  const searches = searchPromises(actions, options);
  let next = 0;
  return drafts.map((draft) => {
    const count = draft.noPromise === null ? draft.actions.length : 0;
    const found = searches.slice(next, (next += count));
    return toReport(draft, found, { ...options, searches: searches.length });
  });
}

/** What is known of a question before its promises. */
interface Draft extends ReportedRows {
  readonly actions: readonly LockedThreshold["action"][];
  readonly named: QuestionReport["labelers"];
  readonly noPromise: string | null;
}

function draftOf(reported: ReportedRows, { actions: wanted }: ReportOptions): Draft {
  const { rows, labelers } = reported;
  const named = countLabelers(rows, labelers);
  const isWanted = (action: LockedThreshold["action"]) =>
    wanted === undefined ||
    wanted.some((one) => one.question === rows.question && one.action === action);
  const isJudged = rows.ids.length >= LEAST_JUDGED;
  return {
    ...reported,
    actions: isJudged ? actionsOf(rows.kind).filter(isWanted) : [],
    named,
    noPromise: reasonForNoPromise(reported, named),
  };
}

function toReport(
  { rows, actions, named, noPromise, groups, counts }: Draft,
  searches: readonly PromiseSearch[],
  options: ReportOptions & { readonly searches: number },
): QuestionReport {
  const { maxRisk, confidence, seed } = options;
  const n = rows.ids.length;
  const scores = scoreRows(rows);
  const verdict = verdictOf(scores);
  // Answers that are no better than a constant permit nothing, however seldom the constant is wrong.
  const permitted = verdict === "useful" ? searches : [];
  const shared = 1 - (1 - confidence) / Math.max(1, options.searches);
  return {
    question: rows.question,
    kind: rows.kind,
    source: rows.source,
    n,
    isWeighted: rows.weights !== undefined,
    labelers: named,
    verdict,
    scores,
    curve: n >= LEAST_JUDGED ? curveOfRows(rows, seed) : null,
    actions: actions.map((action, at) =>
      reportAction(rows, action, { search: permitted[at] ?? null, options }),
    ),
    noPromise,
    recalibration: recalibrateRows(rows, seed),
    groups: groups === null ? [] : groupsOfRows(rows, groups),
    worst: worstRows(rows),
    needed: {
      forFivePoints: labelsForWidth({ halfWidth: 0.05 }),
      forPromiseWithoutErrors: labelsForZeroErrors({ maxRisk, confidence: shared }),
      forPromise: labelsForBound({ rate: 0.4 * maxRisk, maxRisk, confidence: shared }),
    },
    counts,
  };
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

function countLabelers({ labelerOf }: LabelledRows, names: readonly string[]) {
  const counts = new Map<number, number>();
  for (const labeler of labelerOf) counts.set(labeler, (counts.get(labeler) ?? 0) + 1);
  return [...counts]
    .map(([labeler, n]) => ({ name: names[labeler] ?? "", n }))
    .toSorted((one, other) => other.n - one.n || (one.name < other.name ? -1 : 1));
}

function reasonForNoPromise(
  { rows: { source }, isFairDraw = true }: ReportedRows,
  labelers: readonly { readonly name: string }[],
): string | null {
  if (!isFairDraw) {
    return "The printed values of the labelled records differ from those of the others by more than chance, and the labels have no weights: nothing is promised from them. Draw with pick, and keep its column drawn.";
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

function worstRows(rows: LabelledRows): WorstRow[] {
  const { ids, truth, top, options } = rows;
  const probability = new Float64Array(truth.length);
  for (let row = 0; row < truth.length; row += 1) {
    probability[row] = probabilityOf(rows, row, truth[row] as number);
  }
  // Of a million rows only the lowest are put in order, equals by id: the same in any order of the rows.
  const limit = lowestOf(probability, WORST_ROWS).at(-1) ?? 0;
  const worst: number[] = [];
  for (let row = 0; row < truth.length; row += 1) {
    const printed = probability[row] as number;
    if (printed <= limit && printed < 1 - HALF_A_PRINTED_UNIT) worst.push(row);
  }
  return worst
    .toSorted(
      (one, other) =>
        (probability[one] as number) - (probability[other] as number) ||
        ((ids[one] as string) < (ids[other] as string) ? -1 : 1),
    )
    .slice(0, WORST_ROWS)
    .map((row) => ({
      id: ids[row] as string,
      truth: options[truth[row] as number] ?? "",
      answer: options[top[row] as number] ?? "",
      probability: probability[row] as number,
    }));
}

/** Returns the lowest values, ascending: of many values a few. */
function lowestOf(values: Float64Array, count: number): number[] {
  const lowest: number[] = [];
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (lowest.length === count && value >= (lowest[count - 1] as number)) continue;
    const at = lowest.findIndex((other) => value < other);
    lowest.splice(at === -1 ? lowest.length : at, 0, value);
    if (lowest.length > count) lowest.pop();
  }
  return lowest;
}

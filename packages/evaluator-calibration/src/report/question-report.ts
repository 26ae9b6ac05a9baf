import { HALF_A_PRINTED_UNIT, orderPValue } from "../scores/probability-scores.ts";
import { curveOfRows } from "../scores/reliability.ts";
import { neededLabels } from "../thresholds/intervals.ts";
import { searchPromises } from "../thresholds/learn-then-test.ts";
import { type ActionOptions, actionsOf, reportAction } from "./action-report.ts";
import { reportGroups } from "./group-report.ts";
import { judgeLabels } from "./label-quality.ts";
import {
  actionRows,
  type LabelledRows,
  computeProbability,
  type Rows,
  rowsByIndex,
  shareOfRows,
  takeRows,
} from "./labelled-rows.ts";
import { onePerCluster } from "./one-per-cluster.ts";
import type { PlannedPromise } from "./promise-plan.ts";
import { recalibrateRows } from "./recalibrate.ts";
import { shareOfYes } from "./share-of-yes.ts";
import { scoreRows } from "./score-report.ts";
import type { Action, LockedThreshold } from "../artifact.ts";

/** Fewer labelled rows have no curve and no promise. Chosen, not measured. */
export const LEAST_JUDGED = 30;

/** The contents of a report. */
export interface ReportOptions extends ActionOptions {
  readonly seed: number;
  /** Takes one label of each cluster for promises and the verdict. @default false */
  readonly isOnePer?: boolean;
  /** Also reports each group of the labels, which shares the level. @default false */
  readonly hasGroups?: boolean;
  /** Only these actions are reported, and share the level of the promise. @default all */
  readonly actions?: readonly { readonly question: string; readonly action: Action }[] | undefined;
  /** Actions whose labels were drawn one by one: each has the level of its plan, and the others share the rest. */
  readonly planned?: readonly PlannedPromise[];
}

/**
 * Returns the report of each question; all their actions share the level of the promise.
 *
 * @example reportQuestions(join.columns.map((joined) => toLabelledRows(joined)), options)
 */
export function reportQuestions(
  questions: readonly LabelledRows[],
  options: ReportOptions,
): QuestionReport[] {
  const drafts = questions.map((labelledRows) => toDraft(labelledRows, options));
  const { maxRisk, confidence } = options;
  const plannedPromises = drafts.flatMap((draft) => draft.planned);
  const spentAmount = plannedPromises.reduce((sum, { level }) => sum + level, 0);
  const isUnasked = 1 - confidence - spentAmount > 1e-9;
  const searches = searchPromises(
    drafts.flatMap(({ promises }) => (isUnasked ? promises : [])),
    { maxRisk, confidence: isUnasked ? confidence + spentAmount : confidence },
  );
  return drafts.map((draft) => toReport(draft, searches, options));
}

/** Returns the findings about a question before its promises. */
function toDraft(
  labelledRows: LabelledRows,
  { actions: wantedItems, planned: all = [], isOnePer = false, hasGroups = false }: ReportOptions,
) {
  const rows = isOnePer ? labelledRows : withoutCopies(labelledRows);
  const { question, form } = rows;
  const isWanted = (action: Action) =>
    wantedItems?.some((one) => one.question === question && one.action === action) ?? true;
  const plannedPromises = all.filter(
    ({ column, action }) => column === rows.joined.column && isWanted(action),
  );
  const testedRows = isOnePer ? onePerCluster(rows.testedRows, true) : rows.testedRows;
  const labels = judgeLabels(testedRows, plannedPromises[0]?.labels);
  const isPlanned = (action: Action) =>
    plannedPromises.some((plannedPromise) => plannedPromise.action === action);
  const isJudged = rows.ids.length >= LEAST_JUDGED;
  const actions = actionsOf[form].filter(
    (action) => isPlanned(action) || (isJudged && isWanted(action)),
  );
  const fixedTexts = actions.filter((action) => !isPlanned(action));
  const parts = [{ group: null, part: testedRows }, ...(hasGroups ? judgedGroups(testedRows) : [])];
  const promises = parts.flatMap(({ group, part }) =>
    fixedTexts.map((action) => {
      const { weights, ids } = part;
      const askedAction = { question, action, group, weights, ids };
      return Object.assign(askedAction, actionRows(part, action));
    }),
  );
  return {
    rows,
    labels,
    actions,
    planned: plannedPromises,
    promises: labels.noPromise === null ? promises : [],
    copies: labelledRows.testedRows.ids.length - rows.testedRows.ids.length,
  };
}

/** Takes one label of each state, with the weight of all records that have it. */
function withoutCopies(labelledRows: LabelledRows): LabelledRows {
  return {
    ...onePerCluster(labelledRows, false),
    testedRows: onePerCluster(labelledRows.testedRows, false),
  };
}

function judgedGroups(testedRows: Rows) {
  return [...rowsByIndex(testedRows.groupOf)].flatMap(([groupIndex, groupRows]) => {
    const groupName = testedRows.joined.join.groups.list[groupIndex];
    if (groupName === undefined || groupRows.length < LEAST_JUDGED) return [];
    return [{ group: groupName, part: takeRows(testedRows, groupRows) }];
  });
}

type Draft = ReturnType<typeof toDraft>;
type Searches = ReturnType<typeof searchPromises<Draft["promises"][number]>>;

function toReport(
  { rows, labels, actions, planned: plannedPromises, promises, copies }: Draft,
  searches: Searches,
  options: ReportOptions,
) {
  const { seed, isOnePer = false, hasGroups = false } = options;
  const { question, kind, form, source, truth, top, weights, testedRows } = rows;
  const { join } = rows.joined;
  const rowCount = rows.ids.length;
  const scores = scoreRows(rows);
  // All labels of a cluster may be right or wrong together: one of each shows whether the answers are worth something.
  const judgedRows = isOnePer ? onePerCluster(rows, true) : rows;
  const judgedScores = isOnePer ? scoreRows(judgedRows) : scores;
  const orderedBy = findOrder(judgedRows, judgedScores);
  const verdict = toVerdict(judgedScores.skill, orderedBy);
  // Answers whose order is no better than chance permit nothing, however seldom the constant is wrong.
  const ownSearches = isOrdered(verdict)
    ? searches.filter(({ asked: askedAction }) => promises.includes(askedAction))
    : [];
  const isUseless = rowCount >= LEAST_JUDGED && verdict !== "useful";
  // Always giving the commonest truth, without the answers, keeps the promise of these actions.
  const isConstant = (action: Action) =>
    (action === "top" || action === scores.constant.always) &&
    scores.constant.wrong.value <= options.maxRisk;
  const isRefused = (action: Action) => labels.ofKin !== null || (isUseless && isConstant(action));
  const toSideRate = (truthSide: 0 | 1) => {
    const isTruthSide = (rowIndex: number) => truth[rowIndex] === truthSide;
    return form === "probability"
      ? shareOfRows(rows, (rowIndex) => top[rowIndex] === truthSide, { isCounted: isTruthSide })
      : null;
  };
  return {
    question,
    kind,
    form,
    source,
    n: rowCount,
    isWeighted: weights !== undefined,
    labelers: labels.labelers,
    /** How far several labelers agree; null without a record that two labelled. */
    agreement: labels.agreement,
    /** How many clusters the labels are from; null if each is one. */
    clusters: listClusters(testedRows),
    /** The columns of which few values have all labels; records of one value may not be independent. */
    repeats: listRepeats(testedRows),
    /** How many labels are left out, because another record with the same state has one. */
    copies,
    /** Whether promises and the verdict take one label of each cluster. */
    isOnePer,
    /**
     * `useful` if the labels show the answers to beat the constant prediction, `useful after recalibration` if
     * they show only an order better than chance, else `worthless`.
     */
    verdict,
    /** How often chance alone sorts the records as well by the printed values; null if their skill is shown, or without two truths. */
    orderPValue: orderedBy,
    scores,
    /** Of yes and no at 0.5: the share of all yes answered with yes, and of all no with no. */
    tpr: toSideRate(1),
    tnr: toSideRate(0),
    /** The share of "yes" in all records, labelled or not; null if the labels are no fair draw or too few. */
    yes: labels.noPromise === labels.ofKin ? shareOfYes(rows) : null,
    /** Under 30 rows there are no curve and no actions. */
    curve: rowCount >= LEAST_JUDGED ? curveOfRows(rows, seed) : null,
    actions: actions.map((action) => {
      const isOfAction = ({ asked: askedAction }: Searches[number]) =>
        askedAction.group === null && askedAction.action === action;
      const plannedPromise = plannedPromises.find((candidate) => candidate.action === action);
      const promiseSearch = isRefused(action) ? null : (ownSearches.find(isOfAction) ?? null);
      const promisedThreshold =
        plannedPromise === undefined || isRefused(action)
          ? toLocked(promiseSearch, options)
          : toSequential(plannedPromise, options);
      return reportAction(rows, action, {
        promiseSearch,
        plannedPromise,
        promisedThreshold,
        options,
      });
    }),
    /** The reason for no promise from labels of a random draw, or null. */
    noPromise: labels.noPromise,
    recalibration: recalibrateRows(rows, scores.logLoss.value),
    groups: hasGroups
      ? reportGroups(rows, (groupName) =>
          ownSearches
            .filter(({ asked: askedAction }) => askedAction.group === groupName)
            .flatMap((promiseSearch) => toLocked(promiseSearch, options) ?? []),
        )
      : [],
    worst: worstRows(rows),
    needed: neededLabels(options, searches.length),
    counts: join.countsOf(question),
  };
}

/** The worth of the answers of one source to one question. */
export type QuestionReport = ReturnType<typeof toReport>;

function listClusters({ clusterOf }: Rows) {
  const [labelCount, namedValues] = [clusterOf.length, clusterOf.filter((cluster) => cluster >= 0)];
  const clusterCount = labelCount - namedValues.length + new Set(namedValues).size;
  return clusterCount < labelCount ? { n: clusterCount, labels: labelCount } : null;
}

function listRepeats({ ids, joined: { join } }: Rows) {
  return [join.repeats, join.table.repeats].flatMap((columns) => columns?.among(ids) ?? []);
}

type Verdict = "useful" | "useful after recalibration" | "worthless" | "one truth only";

/** The level of a one-sided test, as of a two-sided interval of 95 %. */
const BY_CHANCE = 0.025;

// An interval that includes the constant's skill, or the order of chance, can be luck.
function toVerdict(
  skillScore: ReturnType<typeof scoreRows>["skill"],
  orderedBy: number | null,
): Verdict {
  if (Number.isNaN(skillScore.value)) return "one truth only";
  if (orderedBy === null) return "useful";
  return orderedBy <= BY_CHANCE ? "useful after recalibration" : "worthless";
}

/**
 * Returns how often chance alone sorts the rows as well; null if that decides nothing. Newcombe's interval of the AUC is too wide for few
 * or weighted labels: of 50 by `pick`, 2 % of them yes, it shows an AUC of 0.94 in 10 % of draws, the test in 60 %.
 */
function findOrder({ p, cameTrue }: Rows, { skill, auc }: ReturnType<typeof scoreRows>) {
  if (skill.isShown || Number.isNaN(skill.value)) return null;
  return auc.value > 0.5 ? orderPValue(p, cameTrue) : 1;
}

function isOrdered(verdict: Verdict): boolean {
  return verdict.startsWith("useful");
}

const WORST_ROWS = 20;

/** Returns the rows whose truth has the lowest printed probability, the worst first. */
function worstRows(labelledRows: Rows) {
  const { ids, truth, top, options } = labelledRows;
  const worstAnswers: { row: number; id: string; probability: number }[] = [];
  for (let rowIndex = 0; rowIndex < truth.length; rowIndex += 1) {
    const probability = computeProbability(labelledRows, rowIndex, truth[rowIndex] as number);
    const lastProbability = worstAnswers[WORST_ROWS - 1]?.probability ?? 1 - HALF_A_PRINTED_UNIT;
    if (probability > lastProbability || probability >= 1 - HALF_A_PRINTED_UNIT) continue;
    const worstAnswer = { row: rowIndex, id: ids[rowIndex] as string, probability };
    // Equals are in the order of their ids: the result is the same in any order of the rows.
    const before = worstAnswers.findLastIndex(
      (otherAnswer) =>
        otherAnswer.probability < probability ||
        (otherAnswer.probability === probability && otherAnswer.id < worstAnswer.id),
    );
    worstAnswers.splice(before + 1, 0, worstAnswer);
    worstAnswers.length = Math.min(worstAnswers.length, WORST_ROWS);
  }
  return worstAnswers.map(({ row, id, probability }) => ({
    id,
    truth: options[truth[row] as number] ?? "",
    answer: options[top[row] as number] ?? "",
    probability,
  }));
}

/** Returns the threshold of a plan in the form of an artifact. */
function toSequential(
  { plan: { maxRisk }, question, action, level, draw, theseAt }: PlannedPromise,
  { confidence }: ActionOptions,
): LockedThreshold | null {
  const { promised: promisedThreshold } = draw.state;
  if (promisedThreshold === null) return null;
  const { threshold, n, wrong, unlabelled: unlabelledValue, mostWrong } = promisedThreshold;
  const promise = { question, action, maxRisk, confidence, level, method: "sequential" } as const;
  const lockedThreshold = { ...promise, threshold, n, wrong };
  if (unlabelledValue === undefined || mostWrong === undefined) return lockedThreshold;
  const these = theseAt(threshold, { unlabelled: unlabelledValue, mostWrong });
  return these && { ...lockedThreshold, these };
}

/** Returns the threshold of a search in the form of an artifact. */
function toLocked(
  search: ReturnType<typeof searchPromises>[number] | null,
  { maxRisk, confidence }: ActionOptions,
): LockedThreshold | null {
  if (search === null || search.promised === null) return null;
  const { question, action, threshold, level, acted: n, wrong } = search.promised;
  return { question, action, threshold, maxRisk, confidence, level, method: "fixed", n, wrong };
}

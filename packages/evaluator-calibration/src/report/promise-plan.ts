import * as z from "zod/mini";
import { CalibrationInputError, parseJsonAs } from "../input/input-record.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import type { JoinedColumn, LabelJoin } from "../input/join-labels.ts";
import { jsonHash } from "../math/json-hash.ts";
import { actKey } from "../act-keys.ts";
import type { Action, LockedThreshold } from "../artifact.ts";
import { createPromiseDraw } from "../thresholds/promise-draw.ts";
import { complement, toHundredths } from "../thresholds/risk-coverage.ts";
import { actionRows, printedOf, toLabelledRows, topAnswers } from "./labelled-rows.ts";

const openShare = z.number().check(z.gt(0), z.lt(1));
const planSchema = z.object({
  /** Since version 2 the answers' states are a part of it, and records with equal states are asked about once. */
  version: z.literal([1, 2]),
  actions: z
    .array(
      z.object({
        question: z.string(),
        action: z.enum(["yes", "no", "top"]),
        /** The hash of the answers, see {@link promisePool}. */
        pool: z.string(),
      }),
    )
    .check(z.minLength(1)),
  maxRisk: openShare,
  /** How sure the promises of all actions are together. */
  confidence: openShare,
  seed: z.int().check(z.minimum(0)),
  /** The promise is about exactly these records; without it, about records like them. */
  of: z.optional(z.literal("these")),
});
/** How labels are drawn one by one for a promise; it is decided before the first label. */
export type PromisePlan = z.infer<typeof planSchema>;

/** Returns a plan from the text of its file. @throws Error that names the invalid field. */
export function parsePromisePlan(planText: string): PromisePlan {
  return parseJsonAs(planSchema, planText, { what: "a plan of a promise", latest: 2 });
}

/** Returns the records of a column in the order of their ids, and the hash of their answers and states. */
export function promisePool(column: AnswerColumn, version: PromisePlan["version"] = 2) {
  const { ids, values, width, source } = column;
  const sortedRows = [...ids.keys()].toSorted((firstRow, secondRow) =>
    (ids[firstRow] as string) < (ids[secondRow] as string) ? -1 : 1,
  );
  const recordStates = version === 1 ? [] : column.states;
  const hasStates =
    sortedRows.length > 0 && sortedRows.every((rowIndex) => recordStates[rowIndex] !== undefined);
  const answers = sortedRows.map((rowIndex) => {
    const rowValues = values.subarray(rowIndex * width, (rowIndex + 1) * width);
    return [ids[rowIndex], ...rowValues, ...(hasStates ? [recordStates[rowIndex]] : [])];
  });
  const { option, probability } = topAnswers(column);
  return {
    column,
    rows: sortedRows,
    indexes: new Map(sortedRows.map((rowIndex, poolIndex) => [rowIndex, poolIndex])),
    /** Of yes, or the largest. */
    printed: sortedRows.map((rowIndex) => probability[rowIndex] as number),
    /** The most probable option. */
    tops: sortedRows.map((rowIndex) => column.options[option[rowIndex] as number] ?? ""),
    /** The hash of each state; null if they are not known. */
    states: hasStates ? sortedRows.map((rowIndex) => recordStates[rowIndex] as string) : null,
    hash: jsonHash(JSON.stringify([source.modelId, source.questionHash, answers])),
  };
}

type PromisePool = ReturnType<typeof promisePool>;
// Label by label, the same columns are asked for.
const poolsByVersion = {
  1: new WeakMap<AnswerColumn, PromisePool>(),
  2: new WeakMap<AnswerColumn, PromisePool>(),
};

function toPromisePool(column: AnswerColumn, version: PromisePlan["version"]): PromisePool {
  const knownPool = poolsByVersion[version].get(column) ?? promisePool(column, version);
  poolsByVersion[version].set(column, knownPool);
  return knownPool;
}

function toActKey(
  { column, rows, printed: printedValues, tops, states }: PromisePool,
  poolIndex: number,
  action: Action,
) {
  const probability = printedValues[poolIndex] as number;
  return actKey({
    id: column.ids[rows[poolIndex] as number] as string,
    act: action === "top" ? (tops[poolIndex] as string) : action,
    sureness: action === "no" ? complement(probability) : probability,
    state: states?.[poolIndex] ?? null,
  });
}

/** Returns the name of each record's state and act: one label is enough for all records with the same; undefined if all differ. */
function findCopies({ states, tops }: PromisePool, action: Action): readonly string[] | undefined {
  if (states === null || new Set(states).size === states.length) return undefined;
  return action === "top"
    ? states.map((recordState, poolIndex) => JSON.stringify([recordState, tops[poolIndex]]))
    : states;
}

/**
 * Returns the test of a threshold by the joined labels of records that its promise is about. Records whose labels made the
 * promise are none that the others could be drawn from: in a small backlog, they are most of the surest ones.
 *
 * @param isFitted - Whether a label of a record made the promise.
 */
export function toThresholdTest(
  lockedThreshold: LockedThreshold,
  joinedColumn: JoinedColumn,
  isFitted: (recordId: string) => boolean,
) {
  const isAbout = recordsOf(lockedThreshold, joinedColumn.column);
  const testedRows = toLabelledRows(joinedColumn, isAbout).testedRows;
  const allPrinted = printedOf(testedRows, (recordId) => isAbout(recordId) && !isFitted(recordId));
  return { locked: lockedThreshold, rows: testedRows, all: allPrinted };
}

/** Returns whether a promise is about a record of a column, by the id. */
function recordsOf(
  { these, action }: LockedThreshold,
  column: AnswerColumn,
): (recordId: string) => boolean {
  if (these === undefined) return () => true;
  const columnPool = toPromisePool(column, these.hasStates === true ? 2 : 1);
  const recordKeys = new Set(these.records);
  return (recordId) => {
    const poolIndex = columnPool.indexes.get(column.rowOf(recordId) as number);
    return poolIndex !== undefined && recordKeys.has(toActKey(columnPool, poolIndex, action));
  };
}

/** Which actions of a plan are replayed, and the name of its file for messages. */
interface ReplayOptions {
  readonly file: string;
  readonly isWanted?: (action: PromisePlan["actions"][number]) => boolean;
}

/**
 * Returns the planned actions, each with its draw after the labels that were made for it, in whichever order
 * they were made. A label of a record that the draw does not have does not count.
 *
 * @throws CalibrationInputError if the plan was made for other answers, or a label is of another plan.
 */
export function replayPlan(
  promisePlan: PromisePlan,
  labelJoin: LabelJoin,
  { file, isWanted = () => true }: ReplayOptions,
) {
  for (const [otherPlan, location] of labelJoin.plans) {
    if (otherPlan === jsonHash(promisePlan)) continue;
    const problem = "draw is of another plan; keep its labels in another file";
    throw new CalibrationInputError(location, problem);
  }
  return promisePlan.actions.filter(isWanted).map((action) => {
    const columns = labelJoin.table.columns.filter(({ question }) => question === action.question);
    const plannedPool = columns
      .map((column) => toPromisePool(column, promisePlan.version))
      .find(({ hash }) => hash === action.pool);
    if (plannedPool !== undefined)
      return replayAction(promisePlan, action, { pool: plannedPool, join: labelJoin });
    const problem = "was planned for other answers; use those, or another file with --labels";
    throw new CalibrationInputError({ file }, problem);
  });
}

/** Returns the records that labels contradict that were not made for the plan; it does not count them otherwise. */
function wrongIndexes(
  { column, indexes }: PromisePool,
  labelJoin: LabelJoin,
  { action, copies }: { readonly action: Action; readonly copies: ReturnType<typeof findCopies> },
) {
  const joinedColumn = labelJoin.columns.find((candidate) => candidate.column === column);
  if (joinedColumn === undefined) return new Set<number>();
  const { wrong } = actionRows(toLabelledRows(joinedColumn).testedRows, action);
  const wrongRows = joinedColumn.rows.filter((_, position) => wrong[position] === 1);
  const labelledIndexes = wrongRows.map((columnRow) => indexes.get(columnRow) as number);
  if (copies === undefined) return new Set(labelledIndexes);
  const copyNames = new Set(labelledIndexes.map((poolIndex) => copies[poolIndex]));
  return new Set([...copies.keys()].filter((poolIndex) => copyNames.has(copies[poolIndex])));
}

function replayAction(
  promisePlan: PromisePlan,
  { question, action }: PromisePlan["actions"][number],
  { pool, join }: { readonly pool: PromisePool; readonly join: LabelJoin },
) {
  const { column, rows, indexes, printed: printedValues } = pool;
  const copies = findCopies(pool, action);
  const { sureness } = actionRows({ p: printedValues, cameTrue: [] }, action);
  const shareCount = promisePlan.actions.length;
  const isExact = promisePlan.of === "these";
  const promiseDraw = createPromiseDraw(printedValues, {
    ...promisePlan,
    action,
    shares: shareCount,
    isExact,
    copies,
  });
  const drawnLabels = join.drawn.find((joinedColumn) => joinedColumn.column === column);
  const testedRows = drawnLabels ? toLabelledRows(drawnLabels).testedRows : { p: [], cameTrue: [] };
  const { wrong } = actionRows(testedRows, action);
  const indexAt = (position: number) =>
    indexes.get(drawnLabels?.rows[position] as number) as number;
  // Wrong ones last: if two copies have labels that differ, they are wrong in any order of the labels.
  for (const wrongSide of [0, 1]) {
    for (let position = 0; position < wrong.length; position += 1) {
      if (wrong[position] === wrongSide && promiseDraw.has(indexAt(position)))
        promiseDraw.add(indexAt(position), wrongSide === 1);
    }
  }
  const refutedIndexes = wrongIndexes(pool, join, { action, copies });
  return {
    plan: promisePlan,
    question,
    action,
    column,
    draw: promiseDraw,
    /** The labels, also of other actions on the question. */
    labels: drawnLabels,
    level: Number(((1 - promisePlan.confidence) / shareCount).toPrecision(12)),
    /** Returns the share of all records at a threshold and above. */
    coverageAt: (threshold: number) => {
      const leastHundredths = toHundredths(threshold);
      return (
        sureness.filter((rowSureness) => toHundredths(rowSureness) >= leastHundredths).length /
        rows.length
      );
    },
    /**
     * Returns what a promise about exactly these records permits at a threshold: the keys of those that no label contradicts,
     * and the counts of those without a label. Null if labels refute it, whatever they were made for.
     */
    theseAt: (threshold: number, drawCounts: { unlabelled: number; mostWrong: number }) => {
      const leastHundredths = toHundredths(threshold);
      const aboveIndexes = [...rows.keys()].filter(
        (poolIndex) => toHundredths(sureness[poolIndex] as number) >= leastHundredths,
      );
      const { length: refutedCount } = aboveIndexes.filter(
        (poolIndex) =>
          refutedIndexes.has(poolIndex) && promiseDraw.labelOf(poolIndex) === undefined,
      );
      const mostWrong = drawCounts.mostWrong - refutedCount;
      if (mostWrong < 0) return null;
      const records = aboveIndexes
        .filter(
          (poolIndex) => promiseDraw.labelOf(poolIndex) !== true && !refutedIndexes.has(poolIndex),
        )
        .map((poolIndex) => toActKey(pool, poolIndex, action));
      const restCounts = { unlabelled: drawCounts.unlabelled - refutedCount, mostWrong };
      return { ...restCounts, records, ...(pool.states && { hasStates: true }) };
    },
    /** Returns the id of the next record to label, and the field `draw` of its label; null at the end. */
    next: () => {
      const poolIndex = promiseDraw.next();
      if (poolIndex === null) return null;
      const recordId = column.ids[rows[poolIndex] as number] as string;
      const rowSureness = sureness[poolIndex] as number;
      return {
        id: recordId,
        draw: { plan: jsonHash(promisePlan), from: promiseDraw.from, at: rowSureness },
      };
    },
  };
}

/** See {@link replayPlan}. */
export type PlannedPromise = ReturnType<typeof replayAction>;

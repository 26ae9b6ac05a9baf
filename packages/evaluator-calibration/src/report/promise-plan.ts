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
export function parsePromisePlan(text: string): PromisePlan {
  return parseJsonAs(planSchema, text, { what: "a plan of a promise", latest: 2 });
}

/** Returns the records of a column in the order of their ids, and the hash of their answers and states. */
export function promisePool(column: AnswerColumn, version: PromisePlan["version"] = 2) {
  const { ids, values, width, source } = column;
  const rows = [...ids.keys()].toSorted((one, other) =>
    (ids[one] as string) < (ids[other] as string) ? -1 : 1,
  );
  const states = version === 1 ? [] : column.states;
  const hasStates = rows.length > 0 && rows.every((row) => states[row] !== undefined);
  const answers = rows.map((row) => {
    const own = values.subarray(row * width, (row + 1) * width);
    return [ids[row], ...own, ...(hasStates ? [states[row]] : [])];
  });
  const { option, probability } = topAnswers(column);
  return {
    column,
    rows,
    indexes: new Map(rows.map((row, index) => [row, index])),
    /** Of yes, or the largest. */
    printed: rows.map((row) => probability[row] as number),
    /** The most probable option. */
    tops: rows.map((row) => column.options[option[row] as number] ?? ""),
    /** The hash of each state; null if they are not known. */
    states: hasStates ? rows.map((row) => states[row] as string) : null,
    hash: jsonHash(JSON.stringify([source.modelId, source.questionHash, answers])),
  };
}

type PromisePool = ReturnType<typeof promisePool>;
// Label by label, the same columns are asked for.
const pools = {
  1: new WeakMap<AnswerColumn, PromisePool>(),
  2: new WeakMap<AnswerColumn, PromisePool>(),
};

function toPool(column: AnswerColumn, version: PromisePlan["version"]): PromisePool {
  const pool = pools[version].get(column) ?? promisePool(column, version);
  pools[version].set(column, pool);
  return pool;
}

function toKey(
  { column, rows, printed: printedValues, tops, states }: PromisePool,
  index: number,
  action: Action,
) {
  const p = printedValues[index] as number;
  return actKey({
    id: column.ids[rows[index] as number] as string,
    act: action === "top" ? (tops[index] as string) : action,
    sureness: action === "no" ? complement(p) : p,
    state: states?.[index] ?? null,
  });
}

/** Returns the name of each record's state and act: one label is enough for all records with the same; undefined if all differ. */
function findCopies({ states, tops }: PromisePool, action: Action): readonly string[] | undefined {
  if (states === null || new Set(states).size === states.length) return undefined;
  return action === "top" ? states.map((state, at) => JSON.stringify([state, tops[at]])) : states;
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
  isFitted: (id: string) => boolean,
) {
  const isAbout = recordsOf(lockedThreshold, joinedColumn.column);
  const rows = toLabelledRows(joinedColumn, isAbout).testedRows;
  const all = printedOf(rows, (id) => isAbout(id) && !isFitted(id));
  return { locked: lockedThreshold, rows, all };
}

/** Returns whether a promise is about a record of a column, by the id. */
function recordsOf(
  { these, action }: LockedThreshold,
  column: AnswerColumn,
): (id: string) => boolean {
  if (these === undefined) return () => true;
  const pool = toPool(column, these.hasStates === true ? 2 : 1);
  const keys = new Set(these.records);
  return (id) => {
    const index = pool.indexes.get(column.rowOf(id) as number);
    return index !== undefined && keys.has(toKey(pool, index, action));
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
  plan: PromisePlan,
  join: LabelJoin,
  { file, isWanted = () => true }: ReplayOptions,
) {
  for (const [other, location] of join.plans) {
    if (other === jsonHash(plan)) continue;
    const problem = "draw is of another plan than the file; keep its labels in another file";
    throw new CalibrationInputError(location, problem);
  }
  return plan.actions.filter(isWanted).map((action) => {
    const columns = join.table.columns.filter(({ question }) => question === action.question);
    const pool = columns
      .map((column) => toPool(column, plan.version))
      .find(({ hash }) => hash === action.pool);
    if (pool !== undefined) return replayAction(plan, action, { pool, join });
    const problem = "was planned for other answers; use those, or another file with --labels";
    throw new CalibrationInputError({ file }, problem);
  });
}

/** Returns the records that labels contradict that were not made for the plan; it does not count them otherwise. */
function wrongIndexes(
  { column, indexes }: PromisePool,
  join: LabelJoin,
  { action, copies }: { readonly action: Action; readonly copies: ReturnType<typeof findCopies> },
) {
  const joinedColumn = join.columns.find((one) => one.column === column);
  if (joinedColumn === undefined) return new Set<number>();
  const { wrong } = actionRows(toLabelledRows(joinedColumn).testedRows, action);
  const rows = joinedColumn.rows.filter((_, at) => wrong[at] === 1);
  const labelledIndexes = rows.map((row) => indexes.get(row) as number);
  if (copies === undefined) return new Set(labelledIndexes);
  const names = new Set(labelledIndexes.map((index) => copies[index]));
  return new Set([...copies.keys()].filter((index) => names.has(copies[index])));
}

function replayAction(
  plan: PromisePlan,
  { question, action }: PromisePlan["actions"][number],
  { pool, join }: { readonly pool: PromisePool; readonly join: LabelJoin },
) {
  const { column, rows, indexes, printed: printedValues } = pool;
  const copies = findCopies(pool, action);
  const { sureness } = actionRows({ p: printedValues, cameTrue: [] }, action);
  const shares = plan.actions.length;
  const isExact = plan.of === "these";
  const draw = createPromiseDraw(printedValues, { ...plan, action, shares, isExact, copies });
  const labels = join.drawn.find((joinedColumn) => joinedColumn.column === column);
  const testedRows = labels ? toLabelledRows(labels).testedRows : { p: [], cameTrue: [] };
  const { wrong } = actionRows(testedRows, action);
  const indexAt = (at: number) => indexes.get(labels?.rows[at] as number) as number;
  // Wrong ones last: if two copies have labels that differ, they are wrong in any order of the labels.
  for (const side of [0, 1]) {
    for (let at = 0; at < wrong.length; at += 1) {
      if (wrong[at] === side && draw.has(indexAt(at))) draw.add(indexAt(at), side === 1);
    }
  }
  const refutedIndexes = wrongIndexes(pool, join, { action, copies });
  return {
    plan,
    question,
    action,
    column,
    draw,
    /** The labels, also of other actions on the question. */
    labels,
    level: Number(((1 - plan.confidence) / shares).toPrecision(12)),
    /** Returns the share of all records at a threshold and above. */
    coverageAt: (threshold: number) => {
      const least = toHundredths(threshold);
      return sureness.filter((one) => toHundredths(one) >= least).length / rows.length;
    },
    /**
     * Returns what a promise about exactly these records permits at a threshold: the keys of those that no label contradicts,
     * and the counts of those without a label. Null if labels refute it, whatever they were made for.
     */
    theseAt: (threshold: number, counts: { unlabelled: number; mostWrong: number }) => {
      const least = toHundredths(threshold);
      const above = [...rows.keys()].filter(
        (index) => toHundredths(sureness[index] as number) >= least,
      );
      const { length: refutedCount } = above.filter(
        (index) => refutedIndexes.has(index) && draw.labelOf(index) === undefined,
      );
      const mostWrong = counts.mostWrong - refutedCount;
      if (mostWrong < 0) return null;
      const records = above
        .filter((index) => draw.labelOf(index) !== true && !refutedIndexes.has(index))
        .map((index) => toKey(pool, index, action));
      const rest = { unlabelled: counts.unlabelled - refutedCount, mostWrong };
      return { ...rest, records, ...(pool.states && { hasStates: true }) };
    },
    /** Returns the id of the next record to label, and the field `draw` of its label; null at the end. */
    next: () => {
      const index = draw.next();
      if (index === null) return null;
      const id = column.ids[rows[index] as number] as string;
      const at = sureness[index] as number;
      return { id, draw: { plan: jsonHash(plan), from: draw.from, at } };
    },
  };
}

/** See {@link replayPlan}. */
export type PlannedPromise = ReturnType<typeof replayAction>;

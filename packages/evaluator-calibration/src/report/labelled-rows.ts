import type { JoinedColumn } from "../input/join-labels.ts";
import type { AnswerSource, QuestionKind } from "../input/answer-table.ts";
import { DEFAULT_SEED, hashToShare } from "../math/random.ts";
import { type ProbabilityTable, topOptions } from "../scores/choice-scores.ts";

/** The rows that a promise is tested on. */
export interface TestedRows {
  readonly ids: readonly string[];
  /** The probability of what the curve is about: yes, or the most probable option. */
  readonly p: Float64Array;
  /** Whether that came true; 2 for a skipped record and a tie of labelers, which count as wrong. */
  readonly cameTrue: Uint8Array;
  /** Undefined where every row counts as one. */
  readonly weights: Float64Array | undefined;
  readonly groupOf: Int32Array;
  /** Rows of one cluster are not independent; −1 for none. */
  readonly clusterOf: Int32Array;
}

/** The labelled answers of one source to one question, in typed arrays: those with a truth. */
export interface LabelledRows extends TestedRows {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly options: readonly string[];
  readonly source: AnswerSource;
  /** Every printed probability. */
  readonly table: ProbabilityTable & { readonly values: Float64Array };
  /** 0 and 1, or the index of the option or level. */
  readonly truth: Uint32Array;
  /** The most probable option of each row; of a boolean 1 where yes is at least as probable as no. */
  readonly top: Uint32Array;
  /** These rows, and those without a truth: skipped records and ties of labelers. */
  readonly tested: TestedRows;
}

/** Returns the joined rows of a column as the report computes with them. */
export function toLabelledRows(joined: JoinedColumn): LabelledRows {
  const all = allRows(joined);
  if (!all.cameTrue.includes(2)) return { ...all, tested: all };
  const sure = indexesWhere(all.cameTrue, (cameTrue) => cameTrue !== 2);
  return { ...takeRows(all, sure), tested: all };
}

function allRows({ column, rows, truth, ...joined }: JoinedColumn): Omit<LabelledRows, "tested"> {
  const { width, values, kind } = column;
  const isBoolean = kind === "boolean";
  const n = rows.length;
  const table = { width, values: new Float64Array(n * width) };
  for (let at = 0; at < n; at += 1) {
    const from = (rows[at] as number) * width;
    for (let i = 0; i < width; i += 1) table.values[at * width + i] = values[from + i] as number;
  }
  const truths = Uint32Array.from(truth);
  // Of a boolean, yes where it is at least as probable as no.
  const { option: top, probability } = topOptions(table);
  const cameTrue = new Uint8Array(n);
  for (let at = 0; at < n; at += 1) {
    if (isBoolean) top[at] = (probability[at] as number) >= 0.5 ? 1 : 0;
    const isTrue = isBoolean ? (truth[at] as number) : Number(truth[at] === top[at]);
    cameTrue[at] = (truth[at] as number) < 0 ? 2 : isTrue;
  }
  const isWeighted = joined.weights.some((weight) => weight !== joined.weights[0]);
  return {
    question: column.question,
    kind,
    options: column.options,
    source: column.source,
    ids: rows.map((row) => column.ids[row] ?? ""),
    table,
    truth: truths,
    p: probability,
    cameTrue,
    top,
    weights: isWeighted ? Float64Array.from(joined.weights) : undefined,
    groupOf: Int32Array.from(joined.groupOf),
    clusterOf: Int32Array.from(joined.clusterOf),
  };
}

/** Returns the rows of some records. */
export function filterRows(rows: LabelledRows, isTaken: (id: string) => boolean): LabelledRows {
  const { tested } = rows;
  return {
    ...takeRows(rows, indexesWhere(rows.ids, isTaken)),
    tested: takeTested(tested, indexesWhere(tested.ids, isTaken)),
  };
}

/** Returns one row of each cluster, the same in any order, and all rows without one. */
export function onePerCluster(rows: TestedRows): TestedRows {
  const shareOf = (row: number) => hashToShare(rows.ids[row] as string, DEFAULT_SEED);
  const taken = [...rowsByGroup(rows.clusterOf)].flatMap(([cluster, members]) =>
    cluster === -1
      ? members
      : members.reduce((one, other) => (shareOf(other) < shareOf(one) ? other : one)),
  );
  return takeTested(rows, taken);
}

/** Returns the indexes of values that pass a test. */
export function indexesWhere<TValue>(
  values: ArrayLike<TValue>,
  test: (value: TValue) => boolean,
): number[] {
  const indexes: number[] = [];
  for (let at = 0; at < values.length; at += 1) if (test(values[at] as TValue)) indexes.push(at);
  return indexes;
}

/** Returns some of the rows, in the order of their indexes. */
export function takeTested(rows: TestedRows, taken: readonly number[]): TestedRows {
  const { weights } = rows;
  return {
    ids: taken.map((row) => rows.ids[row] ?? ""),
    p: gather(rows.p, taken),
    cameTrue: gather(rows.cameTrue, taken),
    weights: weights && gather(weights, taken),
    groupOf: gather(rows.groupOf, taken),
    clusterOf: gather(rows.clusterOf, taken),
  };
}

function gather<TArray extends Float64Array | Uint8Array | Uint32Array | Int32Array>(
  values: TArray,
  taken: readonly number[],
): TArray {
  // The first values are overwritten; a mapping from() takes ten times as long.
  const gathered = values.slice(0, taken.length) as TArray;
  for (let at = 0; at < taken.length; at += 1) gathered[at] = values[taken[at] as number] as number;
  return gathered;
}

/** Returns the rows of each group. */
export function rowsByGroup(groupOf: Int32Array): Map<number, number[]> {
  const members = new Map<number, number[]>();
  for (const [row, group] of groupOf.entries()) {
    const known = members.get(group);
    if (known === undefined) members.set(group, [row]);
    else known.push(row);
  }
  return members;
}

/** Returns some of the rows, in the order of their indexes. */
export function takeRows<TRows extends Omit<LabelledRows, "tested">>(
  rows: TRows,
  taken: readonly number[],
): TRows {
  const { table } = rows;
  const { width } = table;
  const values = new Float64Array(taken.length * width);
  for (const [at, row] of taken.entries()) {
    values.set(table.values.subarray(row * width, (row + 1) * width), at * width);
  }
  return {
    ...rows,
    ...takeTested(rows, taken),
    table: { width, values },
    truth: gather(rows.truth, taken),
    top: gather(rows.top, taken),
  };
}

/** Returns the share of rows, by weight, that each option is the truth of. */
export function truthShares({ options, truth, weights }: LabelledRows): number[] {
  const sums = options.map(() => 0);
  let total = 0;
  for (const [i, option] of truth.entries()) {
    const weight = weights?.[i] ?? 1;
    sums[option] = (sums[option] ?? 0) + weight;
    total += weight;
  }
  return sums.map((sum) => sum / total);
}

/** Returns the probability of one row's option, of booleans too. */
export function probabilityOf(
  { kind, table, p }: LabelledRows,
  row: number,
  option: number,
): number {
  if (kind !== "boolean") return table.values[row * table.width + option] as number;
  return option === 1 ? (p[row] as number) : 1 - (p[row] as number);
}

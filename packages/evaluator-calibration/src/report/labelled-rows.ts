import type { AnswerColumn } from "../input/answer-table.ts";
import type { JoinedColumn } from "../input/join-labels.ts";
import type { AnswerSource } from "../input/read-answers.ts";
import type { Form, QuestionKind } from "../kinds.ts";
import { DEFAULT_SEED, hashToShare } from "../math/random.ts";
import type { ProbabilityTable } from "../recalibration.ts";

/** The rows that a promise is tested on. */
export interface TestedRows {
  readonly ids: readonly string[];
  /** The probability that the curve is about: of yes, or of the most probable option. */
  readonly p: Float64Array;
  /** Whether that is true; 2 for a skipped record and a tie of labelers, which count as wrong. */
  readonly cameTrue: Uint8Array;
  /** Undefined if every row counts as one. */
  readonly weights: Float64Array | undefined;
  readonly groupOf: Int32Array;
  /** Rows of one cluster are not independent; −1 for none. */
  readonly clusterOf: Int32Array;
}

/** The labelled answers of one source to one question, in typed arrays: those with a truth. */
export interface LabelledRows extends TestedRows {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly form: Form;
  /** Whether the options are levels. */
  readonly isOrdered: boolean;
  readonly options: readonly string[];
  readonly source: AnswerSource;
  /** Every printed probability. */
  readonly table: ProbabilityTable & { readonly values: Float64Array };
  /** 0 and 1, or the index of the option or level. */
  readonly truth: Uint32Array;
  /** The most probable option of each row; 1 if yes is at least as probable as no. */
  readonly top: Uint32Array;
  /** These rows, and those without a truth: skipped records and ties of labelers. */
  readonly tested: TestedRows;
}

/** Returns the joined rows of a column in the form of a report, or only those of some records. */
export function toLabelledRows(
  joined: JoinedColumn,
  isTaken: ((id: string) => boolean) | null = null,
): LabelledRows {
  const joinedRows = allRows(joined);
  const all =
    isTaken === null ? joinedRows : takeRows(joinedRows, indexesWhere(joinedRows.ids, isTaken));
  if (!all.cameTrue.includes(2)) return { ...all, tested: all };
  const sure = indexesWhere(all.cameTrue, (cameTrue) => cameTrue !== 2);
  return { ...takeRows(all, sure), tested: all };
}

/** Returns each row's most probable option (the first of equals) and its probability; or that of yes. */
export function topAnswers({
  form,
  width,
  values,
}: Pick<AnswerColumn, "form" | "width" | "values">) {
  const rows = values.length / width;
  const tops = { option: new Uint32Array(rows), probability: new Float64Array(rows) };
  const topOf = { probability: yesOrNo, distribution: mostProbable }[form];
  for (let row = 0; row < rows; row += 1) {
    const top = topOf(values, row * width, width);
    tops.option[row] = top;
    // The only probability of a row is that of yes.
    tops.probability[row] = values[row * width + Math.min(top, width - 1)] as number;
  }
  return tops;
}

function yesOrNo(values: Float64Array, at: number): number {
  return (values[at] as number) >= 0.5 ? 1 : 0;
}

function mostProbable(values: Float64Array, from: number, width: number): number {
  let best = 0;
  for (let other = 1; other < width; other += 1) {
    if ((values[from + other] as number) > (values[from + best] as number)) best = other;
  }
  return best;
}

function allRows({ column, rows, truth, ...joined }: JoinedColumn): Omit<LabelledRows, "tested"> {
  const { question, kind, form, isOrdered, options, source, width } = column;
  const n = rows.length;
  const printed = column.values;
  const values = new Float64Array(n * width);
  for (let at = 0; at < n; at += 1) {
    const from = (rows[at] as number) * width;
    for (let i = 0; i < width; i += 1) values[at * width + i] = printed[from + i] as number;
  }
  const { option: top, probability: p } = topAnswers({ form, width, values });
  // A truth of −1 is unknown. The truth of a probability is 0 or 1 itself.
  const isTrue = {
    probability: (at: number) => truth[at] as number,
    distribution: (at: number) => Number(truth[at] === top[at]),
  }[form];
  const cameTrue = new Uint8Array(n);
  for (let at = 0; at < n; at += 1) cameTrue[at] = (truth[at] as number) < 0 ? 2 : isTrue(at);
  const isWeighted = joined.weights.some((weight) => weight !== joined.weights[0]);
  return {
    question,
    kind,
    form,
    isOrdered,
    options,
    source,
    ids: rows.map((row) => column.ids[row] ?? ""),
    table: { width, values },
    truth: Uint32Array.from(truth),
    p,
    cameTrue,
    top,
    weights: isWeighted ? Float64Array.from(joined.weights) : undefined,
    groupOf: Int32Array.from(joined.groupOf),
    clusterOf: Int32Array.from(joined.clusterOf),
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
  return Map.groupBy(groupOf.keys(), (row) => groupOf[row] as number);
}

/** Returns some of the rows, in the order of their indexes. */
export function takeRows<TRows extends Omit<LabelledRows, "tested">>(
  rows: TRows,
  taken: readonly number[],
): TRows {
  const { width } = rows.table;
  const values = new Float64Array(taken.length * width);
  for (let at = 0; at < taken.length; at += 1) {
    const from = (taken[at] as number) * width;
    for (let i = 0; i < width; i += 1) {
      values[at * width + i] = rows.table.values[from + i] as number;
    }
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

const probabilities: Record<
  Form,
  (table: ProbabilityTable, row: number, option: number) => number
> = {
  probability: ({ values }, row, option) =>
    option === 1 ? (values[row] as number) : 1 - (values[row] as number),
  distribution: ({ width, values }, row, option) => values[row * width + option] as number,
};

/** Returns the probability of one row's option; those of no and yes are 0 and 1. */
export function probabilityOf(
  { form, table }: Pick<LabelledRows, "form" | "table">,
  row: number,
  option: number,
): number {
  return probabilities[form](table, row, option);
}

import type { JoinedColumn } from "../input/join-labels.ts";
import type { AnswerSource, QuestionKind } from "../input/answer-table.ts";
import { type ProbabilityTable, topOptions } from "../scores/choice-scores.ts";

/** The labelled answers of one source to one question, in typed arrays. */
export interface LabelledRows {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly options: readonly string[];
  readonly source: AnswerSource;
  readonly ids: readonly string[];
  /** Every printed probability. */
  readonly table: ProbabilityTable & { readonly values: Float64Array };
  /** 0 and 1, or the index of the option or level. */
  readonly truth: Uint32Array;
  /** The probability of what the curve is about: yes, or the most probable option. */
  readonly p: Float64Array;
  /** Whether that came true. */
  readonly cameTrue: Uint8Array;
  /** The most probable option of each row; of a boolean 1 where yes is at least as probable as no. */
  readonly top: Uint32Array;
  /** Undefined where every row counts as one. */
  readonly weights: Float64Array | undefined;
  readonly groupOf: Int32Array;
  readonly labelerOf: Int32Array;
}

/** Returns the joined rows of a column as the report computes with them. */
export function toLabelledRows({ column, rows, truth, ...joined }: JoinedColumn): LabelledRows {
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
    cameTrue[at] = isBoolean ? (truths[at] as number) : Number(truths[at] === top[at]);
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
    labelerOf: Int32Array.from(joined.labelerOf),
  };
}

/** Returns some of the rows, in the order of their indexes. */
export function takeRows(rows: LabelledRows, taken: readonly number[]): LabelledRows {
  const { table, weights } = rows;
  const { width } = table;
  const values = new Float64Array(taken.length * width);
  for (const [at, row] of taken.entries()) {
    values.set(table.values.subarray(row * width, (row + 1) * width), at * width);
  }
  return {
    ...rows,
    ids: taken.map((row) => rows.ids[row] ?? ""),
    table: { width, values },
    truth: Uint32Array.from(taken, (row) => rows.truth[row] as number),
    p: Float64Array.from(taken, (row) => rows.p[row] as number),
    cameTrue: Uint8Array.from(taken, (row) => rows.cameTrue[row] as number),
    top: Uint32Array.from(taken, (row) => rows.top[row] as number),
    weights: weights && Float64Array.from(taken, (row) => weights[row] as number),
    groupOf: Int32Array.from(taken, (row) => rows.groupOf[row] as number),
    labelerOf: Int32Array.from(taken, (row) => rows.labelerOf[row] as number),
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

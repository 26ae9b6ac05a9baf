import type { LockedThreshold } from "../artifact.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import type { JoinedColumn } from "../input/join-labels.ts";
import { type Numbers, computeSum } from "../math/rows.ts";
import { clopperPearson, type Interval } from "../thresholds/intervals.ts";
import { complement } from "../thresholds/risk-coverage.ts";
import { type Population, stratifiedInterval } from "../thresholds/stratified-interval.ts";

/** Some labelled answers of one source to one question, in arrays. */
export type Rows = ReturnType<typeof rowsAt>;

/** The labelled answers of one source to one question: those with a truth. */
export interface LabelledRows extends Rows {
  /** These rows, and those without a truth: skipped records and ties of labelers. */
  readonly testedRows: Rows;
}

/** Returns the joined rows of a column in the form of a report, or only those of some records. */
export function toLabelledRows(
  joinedColumn: JoinedColumn,
  isTaken: (id: string) => boolean = () => true,
): LabelledRows {
  const { column, rows, truth } = joinedColumn;
  const takenRows = rows
    .map((_, at) => at)
    .filter((at) => isTaken(column.ids[rows[at] as number] as string));
  const sure = takenRows.filter((at) => (truth[at] as number) >= 0);
  const testedRows = rowsAt(joinedColumn, takenRows);
  return {
    ...(sure.length === takenRows.length ? testedRows : rowsAt(joinedColumn, sure)),
    testedRows,
  };
}

/** Returns some of the rows, in the order of their indexes, with their weights or other ones. */
export function takeRows(
  { joined: joinedColumn, positions, weights }: Rows,
  takenValues: readonly number[],
  weightOf = (row: number) => weights?.[row] ?? 1,
): Rows {
  const rows = rowsAt(
    joinedColumn,
    takenValues.map((row) => positions[row] as number),
  );
  return { ...rows, weights: unequal(takenValues.map(weightOf)) };
}

function unequal(weights: readonly number[]): Float64Array | undefined {
  const isWeighted = weights.some((weight) => weight !== weights[0]);
  return isWeighted ? Float64Array.from(weights) : undefined;
}

function rowsAt(joinedColumn: JoinedColumn, positions: readonly number[]) {
  const { column } = joinedColumn;
  const { question, kind, form, isOrdered, options, source, width } = column;
  const take = (numbers: readonly number[]) => positions.map((at) => numbers[at] as number);
  const rows = take(joinedColumn.rows);
  const values = new Float64Array(rows.length * width);
  for (const [at, row] of rows.entries()) {
    for (let i = 0; i < width; i += 1) {
      values[at * width + i] = column.values[row * width + i] as number;
    }
  }
  const { option: top, probability: p } = topAnswers({ form, width, values });
  const truth = take(joinedColumn.truth);
  const cameTrueAt = (one: number, row: number) => {
    if (one < 0) return 2;
    return form === "probability" ? one : Number(one === top[row]);
  };
  return {
    joined: joinedColumn,
    /** The indexes of these rows in `joined`. */
    positions,
    question,
    kind,
    form,
    isOrdered,
    options,
    source,
    ids: rows.map((row) => column.ids[row] as string),
    /** Every printed probability. */
    table: { width, values },
    /** 0 and 1, or the index of the option or level. */
    truth: Uint32Array.from(truth),
    /** The most probable option of each row; 1 if yes is at least as probable as no. */
    top,
    /** The probability that the curve is about: of yes, or of the most probable option. */
    p,
    /** Whether that is true; 2 for a skipped record and a tie of labelers, which count as wrong. */
    cameTrue: Uint8Array.from(truth.map(cameTrueAt)),
    /** Undefined if every row counts as much as the others. */
    weights: unequal(take(joinedColumn.weights)),
    groupOf: take(joinedColumn.groupOf),
    /** Rows of one cluster are not independent; −1 for none. */
    clusterOf: take(joinedColumn.clusterOf),
  };
}

/** Returns each row's most probable option (the first of equals) and its probability; or that of yes. */
export function topAnswers({
  form,
  width,
  values,
}: Pick<AnswerColumn, "form" | "width" | "values">) {
  const rows = values.length / width;
  const tops = { option: new Uint32Array(rows), probability: new Float64Array(rows) };
  for (let row = 0; row < rows; row += 1) {
    const from = row * width;
    let top = form === "probability" && (values[from] as number) >= 0.5 ? 1 : 0;
    for (let other = 1; other < width; other += 1) {
      if ((values[from + other] as number) > (values[from + top] as number)) top = other;
    }
    tops.option[row] = top;
    // The only probability of a row is that of yes.
    tops.probability[row] = values[from + Math.min(top, width - 1)] as number;
  }
  return tops;
}

/** Returns `p` of every record that has an answer of the source of some rows, labelled or not, or only of some records. */
export function printedOf(
  { joined: { column } }: Rows,
  isTaken?: (id: string) => boolean,
): Float64Array {
  const { probability } = topAnswers(column);
  if (isTaken === undefined) return probability;
  return probability.filter((_, row) => isTaken(column.ids[row] as string));
}

/** Returns the rows of each group or cluster. */
export function rowsByIndex(indexOf: readonly number[]): Map<number, number[]> {
  return Map.groupBy(indexOf.keys(), (row) => indexOf[row] as number);
}

/** A figure with its 95 % interval. */
export interface Estimate extends Interval {
  readonly value: number;
}

/**
 * A share of fewer weighted rows may be any: the heaviest row of all like them, which is drawn last, may be missing. With an interval,
 * up to 16 % of the shares of 1 to 4 rows were missed, of 5 to 9 rows at most 6 %.
 */
const LEAST_OF_WEIGHTED = 5;

interface ShareOptions {
  /** @default all */
  readonly isCounted?: (row: number) => boolean;
  /** @default "alike" */
  readonly population?: Population;
}

/** Returns the share of the counted rows that are hit, by weight, with its 95 % interval; NaN without rows. */
export function shareOfRows(
  rows: Pick<Rows, "truth" | "weights" | "joined">,
  isHit: (row: number) => boolean,
  { isCounted, population = "alike" }: ShareOptions = {},
): Estimate {
  const { truth, weights } = rows;
  const countedValues = [...truth.keys()].filter((row) => isCounted?.(row) ?? true);
  if (countedValues.length === 0) return { value: Number.NaN, low: 0, high: 1 };
  const toWeight = (row: number) => weights?.[row] ?? 1;
  const total = countedValues.reduce((sum, row) => sum + toWeight(row), 0);
  const hits = countedValues.reduce((sum, row) => sum + (isHit(row) ? toWeight(row) : 0), 0);
  const value = hits / total;
  if (countedValues.length === truth.length && isDrawnByStrata(rows)) {
    const strata = Array.from(Map.groupBy(countedValues, toWeight), ([weight, own]) => ({
      records: weight * own.length,
      n: own.length,
      hits: own.filter(isHit).length,
    }));
    return { value, ...stratifiedInterval(strata, population) };
  }
  if (weights !== undefined && countedValues.length < LEAST_OF_WEIGHTED) {
    return { value, low: 0, high: 1 };
  }
  // The number of equal rows that have the worth of the weighted ones (Kish; of such a number the interval is Korn and Graubard's).
  const effective = total ** 2 / countedValues.reduce((sum, row) => sum + toWeight(row) ** 2, 0);
  return { value, ...clopperPearson(value * effective, effective) };
}

/**
 * Returns whether the labels are a whole sheet of `pick`: then the weights add up to the number of all records, and of each
 * stratum there are two labels or all. Other weights may add up to it, too, but one label alone is no stratum.
 */
export function isDrawnByStrata({
  weights,
  joined: joinedColumn,
}: Pick<Rows, "weights" | "joined">): boolean {
  if (weights === undefined) return false;
  const records = joinedColumn.column.ids.length;
  const isFar = (sum: number, most: number) => Math.abs(sum / records - 1) > most;
  const strata = Map.groupBy(joinedColumn.weights, (weight) => weight);
  return (
    [...strata].every(([weight, own]) => weight <= 1 || own.length > 1) &&
    !isFar(computeSum(joinedColumn.weights), 1e-6) &&
    !isFar(computeSum(weights), 0.1)
  );
}

/** Returns how sure each row is of an action, and whether acting on it would be wrong or is unknown. */
export function actionRows(
  { p, cameTrue }: { readonly p: Numbers; readonly cameTrue: Numbers },
  action: LockedThreshold["action"],
) {
  const right = action === "no" ? 0 : 1;
  // Loops: a mapping from() takes ten times as long.
  const rows = { sureness: new Float64Array(p.length), wrong: new Uint8Array(p.length) };
  for (let i = 0; i < p.length; i += 1) {
    const yes = p[i] as number;
    rows.sureness[i] = right === 1 ? yes : complement(yes);
    rows.wrong[i] = cameTrue[i] === right ? 0 : 1;
  }
  return rows;
}

/** Returns the probability of one row's option; those of no and yes are 0 and 1. */
export function computeProbability({ form, table }: Rows, row: number, option: number): number {
  // The only probability of a row is that of yes.
  const printedValue = table.values[
    row * table.width + Math.min(option, table.width - 1)
  ] as number;
  return form === "probability" && option === 0 ? complement(printedValue) : printedValue;
}

/** Returns a row's Brier score if an option is true: of a probability that of yes, of a distribution summed over its options. */
export function computeBrier(
  { form, table }: Pick<Rows, "form"> & { readonly table: Pick<AnswerColumn, "width" | "values"> },
  row: number,
  truth: number,
): number {
  if (form === "probability") return ((table.values[row] as number) - truth) ** 2;
  let sum = 0;
  for (let option = 0; option < table.width; option += 1) {
    const isTrue = option === truth ? 1 : 0;
    sum += ((table.values[row * table.width + option] as number) - isTrue) ** 2;
  }
  return sum;
}

import type { LockedThreshold } from "../artifact.ts";
import type { AnswerColumn } from "../input/answer-column.ts";
import type { JoinedColumn } from "../input/join-labels.ts";
import { type Numbers, computeSum } from "../math/rows.ts";
import { clopperPearson, type Interval } from "../thresholds/intervals.ts";
import { complement } from "../thresholds/risk-coverage.ts";
import { type Population, stratifiedInterval } from "../thresholds/stratified-interval.ts";

/** Some labelled answers of one source to one question, in arrays. */
export type Rows = ReturnType<typeof rowsAtPositions>;

/** The labelled answers of one source to one question: those with a truth. */
export interface LabelledRows extends Rows {
  /** These rows, and those without a truth: skipped records and ties of labelers. */
  readonly testedRows: Rows;
}

/** Returns the joined rows of a column in the form of a report, or only those of some records. */
export function toLabelledRows(
  joinedColumn: JoinedColumn,
  isTaken: (recordId: string) => boolean = () => true,
): LabelledRows {
  const { column, rows, truth } = joinedColumn;
  const takenRows = rows
    .map((_, position) => position)
    .filter((position) => isTaken(column.ids[rows[position] as number] as string));
  const sureRows = takenRows.filter((position) => (truth[position] as number) >= 0);
  const testedRows = rowsAtPositions(joinedColumn, takenRows);
  return {
    ...(sureRows.length === takenRows.length
      ? testedRows
      : rowsAtPositions(joinedColumn, sureRows)),
    testedRows,
  };
}

/** Returns some of the rows, in the order of their indexes, with their weights or other ones. */
export function takeRows(
  { joined: joinedColumn, positions, weights }: Rows,
  takenValues: readonly number[],
  weightOf = (rowIndex: number) => weights?.[rowIndex] ?? 1,
): Rows {
  const takenRows = rowsAtPositions(
    joinedColumn,
    takenValues.map((rowIndex) => positions[rowIndex] as number),
  );
  return { ...takenRows, weights: unequal(takenValues.map(weightOf)) };
}

function unequal(weights: readonly number[]): Float64Array | undefined {
  const isWeighted = weights.some((rowWeight) => rowWeight !== weights[0]);
  return isWeighted ? Float64Array.from(weights) : undefined;
}

function rowsAtPositions(joinedColumn: JoinedColumn, positions: readonly number[]) {
  const { column } = joinedColumn;
  const { question, kind, form, isOrdered, options, source, width } = column;
  const takeNumbers = (numbers: readonly number[]) =>
    positions.map((position) => numbers[position] as number);
  const columnRows = takeNumbers(joinedColumn.rows);
  const tableValues = new Float64Array(columnRows.length * width);
  for (const [position, columnRow] of columnRows.entries()) {
    for (let optionIndex = 0; optionIndex < width; optionIndex += 1) {
      tableValues[position * width + optionIndex] = column.values[
        columnRow * width + optionIndex
      ] as number;
    }
  }
  const { option, probability } = topAnswers({
    form,
    width,
    values: tableValues,
  });
  const truthIndexes = takeNumbers(joinedColumn.truth);
  const cameTrueAt = (truthIndex: number, rowIndex: number) => {
    if (truthIndex < 0) return 2;
    return form === "probability" ? truthIndex : Number(truthIndex === option[rowIndex]);
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
    ids: columnRows.map((columnRow) => column.ids[columnRow] as string),
    /** Every printed probability. */
    table: { width, values: tableValues },
    /** 0 and 1, or the index of the option or level. */
    truth: Uint32Array.from(truthIndexes),
    /** The most probable option of each row; 1 if yes is at least as probable as no. */
    top: option,
    /** The probability that the curve is about: of yes, or of the most probable option. */
    p: probability,
    /** Whether that is true; 2 for a skipped record and a tie of labelers, which count as wrong. */
    cameTrue: Uint8Array.from(truthIndexes.map(cameTrueAt)),
    /** Undefined if every row counts as much as the others. */
    weights: unequal(takeNumbers(joinedColumn.weights)),
    groupOf: takeNumbers(joinedColumn.groupOf),
    /** Rows of one cluster are not independent; −1 for none. */
    clusterOf: takeNumbers(joinedColumn.clusterOf),
  };
}

/** Returns each row's most probable option (the first of equals) and its probability; or that of yes. */
export function topAnswers({
  form,
  width,
  values,
}: Pick<AnswerColumn, "form" | "width" | "values">) {
  const rowCount = values.length / width;
  const topsByRow = { option: new Uint32Array(rowCount), probability: new Float64Array(rowCount) };
  for (let rowIndex = 0; rowIndex < rowCount; rowIndex += 1) {
    const rowStart = rowIndex * width;
    let topOption = form === "probability" && (values[rowStart] as number) >= 0.5 ? 1 : 0;
    for (let otherOption = 1; otherOption < width; otherOption += 1) {
      if ((values[rowStart + otherOption] as number) > (values[rowStart + topOption] as number))
        topOption = otherOption;
    }
    topsByRow.option[rowIndex] = topOption;
    // The only probability of a row is that of yes.
    topsByRow.probability[rowIndex] = values[rowStart + Math.min(topOption, width - 1)] as number;
  }
  return topsByRow;
}

/** Returns `p` of every record that has an answer of the source of some rows, labelled or not, or only of some records. */
export function printedOf(
  { joined: { column } }: Rows,
  isTaken?: (recordId: string) => boolean,
): Float64Array {
  const { probability } = topAnswers(column);
  if (isTaken === undefined) return probability;
  return probability.filter((_, rowIndex) => isTaken(column.ids[rowIndex] as string));
}

/** Returns the rows of each group or cluster. */
export function rowsByIndex(indexOf: readonly number[]): Map<number, number[]> {
  return Map.groupBy(indexOf.keys(), (rowIndex) => indexOf[rowIndex] as number);
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
  readonly isCounted?: (rowIndex: number) => boolean;
  /** @default "alike" */
  readonly population?: Population;
}

/** Returns the share of the counted rows that are hit, by weight, with its 95 % interval; NaN without rows. */
export function shareOfRows(
  sampleRows: Pick<Rows, "truth" | "weights" | "joined">,
  isHitRow: (rowIndex: number) => boolean,
  { isCounted, population = "alike" }: ShareOptions = {},
): Estimate {
  const { truth, weights } = sampleRows;
  const countedValues = [...truth.keys()].filter((rowIndex) => isCounted?.(rowIndex) ?? true);
  if (countedValues.length === 0) return { value: Number.NaN, low: 0, high: 1 };
  const toWeight = (rowIndex: number) => weights?.[rowIndex] ?? 1;
  const totalWeight = countedValues.reduce(
    (runningSum, rowIndex) => runningSum + toWeight(rowIndex),
    0,
  );
  const hitWeight = countedValues.reduce(
    (runningSum, rowIndex) => runningSum + (isHitRow(rowIndex) ? toWeight(rowIndex) : 0),
    0,
  );
  const value = hitWeight / totalWeight;
  if (countedValues.length === truth.length && isDrawnByStrata(sampleRows)) {
    const sampleStrata = Array.from(
      Map.groupBy(countedValues, toWeight),
      ([stratumWeight, stratumRows]) => ({
        records: stratumWeight * stratumRows.length,
        n: stratumRows.length,
        hits: stratumRows.filter(isHitRow).length,
      }),
    );
    return { value, ...stratifiedInterval(sampleStrata, population) };
  }
  if (weights !== undefined && countedValues.length < LEAST_OF_WEIGHTED) {
    return { value, low: 0, high: 1 };
  }
  // The number of equal rows that have the worth of the weighted ones (Kish; of such a number the interval is Korn and Graubard's).
  const effective =
    totalWeight ** 2 /
    countedValues.reduce((runningSum, rowIndex) => runningSum + toWeight(rowIndex) ** 2, 0);
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
  const isFarOff = (weightSum: number, mostDistance: number) =>
    Math.abs(weightSum / records - 1) > mostDistance;
  const weightGroups = Map.groupBy(joinedColumn.weights, (rowWeight) => rowWeight);
  return (
    [...weightGroups].every(
      ([groupWeight, groupRows]) => groupWeight <= 1 || groupRows.length > 1,
    ) &&
    !isFarOff(computeSum(joinedColumn.weights), 1e-6) &&
    !isFarOff(computeSum(weights), 0.1)
  );
}

/** Returns how sure each row is of an action, and whether acting on it would be wrong or is unknown. */
export function actionRows(
  { p, cameTrue }: { readonly p: Numbers; readonly cameTrue: Numbers },
  action: LockedThreshold["action"],
) {
  const rightValue = action === "no" ? 0 : 1;
  // Loops: a mapping from() takes ten times as long.
  const actedRows = {
    sureness: new Float64Array(p.length),
    wrong: new Uint8Array(p.length),
  };
  for (let rowIndex = 0; rowIndex < p.length; rowIndex += 1) {
    const yesProbability = p[rowIndex] as number;
    actedRows.sureness[rowIndex] = rightValue === 1 ? yesProbability : complement(yesProbability);
    actedRows.wrong[rowIndex] = cameTrue[rowIndex] === rightValue ? 0 : 1;
  }
  return actedRows;
}

/** Returns the probability of one row's option; those of no and yes are 0 and 1. */
export function computeProbability(
  { form, table }: Rows,
  rowIndex: number,
  optionIndex: number,
): number {
  // The only probability of a row is that of yes.
  const printedValue = table.values[
    rowIndex * table.width + Math.min(optionIndex, table.width - 1)
  ] as number;
  return form === "probability" && optionIndex === 0 ? complement(printedValue) : printedValue;
}

/** Returns a row's Brier score if an option is true: of a probability that of yes, of a distribution summed over its options. */
export function computeBrier(
  { form, table }: Pick<Rows, "form"> & { readonly table: Pick<AnswerColumn, "width" | "values"> },
  rowIndex: number,
  truthIndex: number,
): number {
  if (form === "probability") return ((table.values[rowIndex] as number) - truthIndex) ** 2;
  let squareSum = 0;
  for (let optionIndex = 0; optionIndex < table.width; optionIndex += 1) {
    const trueShare = optionIndex === truthIndex ? 1 : 0;
    squareSum += ((table.values[rowIndex * table.width + optionIndex] as number) - trueShare) ** 2;
  }
  return squareSum;
}

import type { AnswerColumn } from "evaluator-calibration";
import type { EngineColumn } from "./engine-columns.ts";

type Columns = readonly (EngineColumn | null)[];

const MOST_SHOWN = 12;

/** Returns how far each two engines agree on the records that both answered. */
export function agreementsOf(columns: Columns, names: readonly string[]) {
  return names.flatMap((first, one) =>
    names.slice(one + 1).flatMap((second, after) => {
      const other = columns[one + 1 + after] ?? null;
      const agreement = agreementOf(columns[one]?.column, other?.column);
      return agreement === null ? [] : [{ first, second, ...agreement }];
    }),
  );
}

function agreementOf(one: AnswerColumn | undefined, other: AnswerColumn | undefined) {
  if (one === undefined || other === undefined) return null;
  let [n, equal, variation] = [0, 0, 0];
  for (const [row, id] of one.ids.entries()) {
    const match = other.rowOf(id);
    if (match === undefined) continue;
    n += 1;
    if (topOf(one, row).index === topOf(other, match).index) equal += 1;
    variation += variationOf(sharesOf(one, row), sharesOf(other, match));
  }
  // Total variation: 0 if all probabilities are the same, at most 1.
  return n === 0 ? null : { n, equalDecisions: equal / n, meanTotalVariation: variation / n };
}

/** The probability of each option; for a probability of yes: of no and of yes. */
function sharesOf({ form, width, values }: AnswerColumn, row: number): ArrayLike<number> {
  const yes = values[row] as number;
  return form === "probability" ? [1 - yes, yes] : values.subarray(row * width, (row + 1) * width);
}

function topOf(column: AnswerColumn, row: number) {
  const shares = sharesOf(column, row);
  let index = 0;
  for (let i = 1; i < shares.length; i += 1) {
    const [best, here] = [shares[index] as number, shares[i] as number];
    // A tie of no and yes counts as yes, as in the report.
    if (here > best || (here === best && column.form === "probability")) index = i;
  }
  return { index, answer: column.options[index] ?? "", probability: shares[index] as number };
}

function variationOf(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) {
    sum += Math.abs((one[i] as number) - (other[i] as number));
  }
  return sum / 2;
}

/** Returns the records with different decisions, the largest total variation first. */
export function disagreementsOf(columns: Columns) {
  const ids = new Set(columns.flatMap((column) => column?.column.ids ?? []));
  const found = [...ids].flatMap((id) => {
    const shown = columns.map((column) => {
      const row = column?.column.rowOf(id);
      if (column === null || row === undefined) return null;
      return { ...topOf(column.column, row), shares: sharesOf(column.column, row) };
    });
    const given = shown.filter((answer) => answer !== null);
    if (new Set(given.map(({ index }) => index)).size < 2) return [];
    const variation = Math.max(
      ...given.flatMap((one) => given.map((other) => variationOf(one.shares, other.shares))),
    );
    /** In the order of the engines; null for an engine without an answer. */
    const answers = shown.map((one) => one && { answer: one.answer, probability: one.probability });
    return [{ id, variation, answers }];
  });
  return found
    .toSorted((one, other) => other.variation - one.variation)
    .slice(0, MOST_SHOWN)
    .map((one) => Object.assign(one, { truth: truthOf(one.id, columns) }));
}

function truthOf(id: string, columns: Columns): string | null {
  for (const column of columns) {
    const at = column?.rows?.ids.indexOf(id) ?? -1;
    if (at >= 0) return column?.rows?.options[column.rows.truth[at] as number] ?? null;
  }
  return null;
}

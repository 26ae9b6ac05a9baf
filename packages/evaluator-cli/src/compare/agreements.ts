import type { AnswerColumn, LabelledRows } from "evaluator-calibration";

/** The answers of each engine to one question, and the labelled rows; null without an answer. */
type Columns = readonly ({
  readonly column: AnswerColumn;
  readonly rows: LabelledRows | null;
} | null)[];

const MOST_SHOWN = 12;

/** Returns how far each two engines agree on the records that both answered, and where they do not. */
export function agreementsOf(columns: Columns, names: readonly string[]) {
  const agreements = columns.flatMap((one, at) =>
    columns.slice(at + 1).flatMap((other, after) => {
      const agreement = one && other && agreementOf(one.column, other.column);
      const [first = "", second = ""] = [names[at], names[at + 1 + after]];
      return agreement === null ? [] : [{ first, second, ...agreement }];
    }),
  );
  return { agreements, disagreements: disagreementsOf(columns) };
}

function agreementOf(one: AnswerColumn, other: AnswerColumn) {
  let [n, equal, variation] = [0, 0, 0];
  for (const [row, id] of one.ids.entries()) {
    const match = other.rowOf(id);
    if (match === undefined) continue;
    const [mine, theirs] = [topOf(one, row), topOf(other, match)];
    n += 1;
    if (mine.index === theirs.index) equal += 1;
    variation += variationOf(mine.shares, theirs.shares);
  }
  // Total variation: 0 if all probabilities are the same, at most 1.
  return n === 0 ? null : { n, equalDecisions: equal / n, meanTotalVariation: variation / n };
}

/** Returns the most probable option of a row, and the probability of each. */
function topOf({ form, width, values, options }: AnswerColumn, row: number) {
  const isYes = form === "probability";
  const yes = values[row] as number;
  const shares = isYes ? [1 - yes, yes] : [...values.subarray(row * width, (row + 1) * width)];
  const probability = Math.max(...shares);
  // A tie of no and yes counts as yes, as in the report.
  const index = isYes ? shares.lastIndexOf(probability) : shares.indexOf(probability);
  return { index, answer: options[index] ?? "", probability, shares };
}

function variationOf(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, share, at) => sum + Math.abs(share - (other[at] ?? 0)), 0) / 2;
}

/** Returns the records with different decisions, the largest total variation first. */
function disagreementsOf(columns: Columns) {
  const ids = new Set(columns.flatMap((column) => column?.column.ids ?? []));
  const found = [...ids].flatMap((id) => {
    const shown = columns.map((column) => {
      const row = column?.column.rowOf(id);
      return column === null || row === undefined ? null : topOf(column.column, row);
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

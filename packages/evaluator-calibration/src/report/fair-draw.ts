import type { JoinedColumn } from "../input/join-labels.ts";
import { stabilityTest } from "../scores/shifted-values.ts";
import { topOptions } from "../scores/choice-scores.ts";

// A fair draw is called unfair in one of a thousand reports.
const BY_CHANCE = 0.001;
/** Fewer rows on either side show no difference worth a word. */
const LEAST_ROWS = 30;

/**
 * Returns whether labels without weights look drawn by chance from all answers, by their printed
 * values; true where there are too few of either to say.
 */
export function isFairDraw({ column, rows, weights }: JoinedColumn): boolean {
  if (weights.some((weight) => weight !== weights[0])) return true;
  const { width, values } = column;
  const all = column.ids.length;
  if (rows.length < LEAST_ROWS || all - rows.length < LEAST_ROWS) return true;
  const p = topOptions({ width, values }).probability;
  const isLabelled = new Uint8Array(p.length);
  for (const row of rows) isLabelled[row] = 1;
  const labelled = p.filter((_, row) => isLabelled[row] === 1);
  const others = p.filter((_, row) => isLabelled[row] === 0);
  const { index, cut } = stabilityTest(others, labelled, { byChance: BY_CHANCE });
  return index <= cut;
}

import { drawHypergeometric } from "./random.ts";
import { computeSum, type Numbers } from "./rows.ts";

/** Rows of one value, one truth and one weight taken together. */
interface Cell {
  readonly value: number;
  readonly truth: number;
  readonly weight: number;
  count: number;
}

/** Returns rows by value, truth and weight, sorted: sums over them do not depend on the order of the rows. */
export function listCells(p: Numbers, truth: Numbers, weights: Numbers | undefined): Cell[] {
  const byWeight = new Map<number, readonly Map<number, Cell>[]>();
  for (let row = 0; row < p.length; row += 1) {
    const [value, isTrue] = [p[row] as number, truth[row] as number];
    const weight = weights === undefined ? 1 : (weights[row] as number);
    let byTruth = byWeight.get(weight);
    if (byTruth === undefined) byWeight.set(weight, (byTruth = [new Map(), new Map()]));
    const cell = byTruth[isTrue]?.get(value);
    if (cell === undefined) byTruth[isTrue]?.set(value, { value, truth: isTrue, weight, count: 1 });
    else cell.count += 1;
  }
  const cells = [...byWeight.values()].flat().flatMap((byValue) => Array.from(byValue.values()));
  return cells.toSorted(
    (one, other) => one.value - other.value || one.truth - other.truth || one.weight - other.weight,
  );
}

/** Rows of equal value taken together; values ascend. */
export interface Pool {
  readonly values: Float64Array;
  /** Rows at each value. */
  readonly counts: Float64Array;
  /** The weight of the rows at each value; without weights, the counts. */
  readonly weights: Float64Array;
  /** The weight of those rows at each value whose truth is 1. */
  readonly positives: Float64Array;
}

/** Returns rows pooled by equal value: a million printed values make at most 101 pools. */
export function poolRows(p: Numbers, truth: Numbers, weights?: Numbers): Pool {
  const groups = [...Map.groupBy(listCells(p, truth, weights), ({ value }) => value)];
  const listSums = (amountOf: (cell: Cell) => number) =>
    Float64Array.from(groups, ([, cells]) => cells.reduce((sum, cell) => sum + amountOf(cell), 0));
  return {
    values: Float64Array.from(groups, ([value]) => value),
    counts: listSums(({ count }) => count),
    weights: listSums(({ count, weight }) => count * weight),
    positives: listSums(({ count, weight, truth: isTrue }) => count * weight * isTrue),
  };
}

/** Draws anew which rows of a pool are positive, each row with the same chance; returns their number at each value. */
export function mixPositives(
  { counts, positives }: Pick<Pool, "counts" | "positives">,
  random: () => number,
): Float64Array {
  let remainingCount = computeSum(counts);
  let negatives = remainingCount - computeSum(positives);
  return counts.map((count) => {
    const drawnCount = drawHypergeometric(
      { first: count, second: remainingCount - count, draws: negatives },
      random,
    );
    remainingCount -= count;
    negatives -= drawnCount;
    return count - drawnCount;
  });
}

/** Returns the closest values that never descend: pool-adjacent-violators by weight. */
export function monotoneMeans(sums: Numbers, weights: Numbers): Float64Array {
  const blocks: { sum: number; weight: number; size: number }[] = [];
  for (let i = 0; i < sums.length; i += 1) {
    const block = { sum: sums[i] as number, weight: weights[i] as number, size: 1 };
    let before = blocks.at(-1);
    // Compared by products: a division could round two equal means apart.
    while (before !== undefined && before.sum * block.weight >= block.sum * before.weight) {
      block.sum += before.sum;
      block.weight += before.weight;
      block.size += before.size;
      blocks.pop();
      before = blocks.at(-1);
    }
    blocks.push(block);
  }
  const fittedValues = new Float64Array(sums.length);
  let at = 0;
  for (const { sum, weight, size } of blocks) {
    fittedValues.fill(sum / weight, at, at + size);
    at += size;
  }
  return fittedValues;
}

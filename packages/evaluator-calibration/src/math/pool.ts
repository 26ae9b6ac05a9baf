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
export function listCells(
  probabilities: Numbers,
  truth: Numbers,
  weights: Numbers | undefined,
): Cell[] {
  const byWeight = new Map<number, readonly Map<number, Cell>[]>();
  for (let rowIndex = 0; rowIndex < probabilities.length; rowIndex += 1) {
    const [probability, truthValue] = [
      probabilities[rowIndex] as number,
      truth[rowIndex] as number,
    ];
    const rowWeight = weights === undefined ? 1 : (weights[rowIndex] as number);
    let byTruth = byWeight.get(rowWeight);
    if (byTruth === undefined) byWeight.set(rowWeight, (byTruth = [new Map(), new Map()]));
    const knownCell = byTruth[truthValue]?.get(probability);
    if (knownCell === undefined)
      byTruth[truthValue]?.set(probability, {
        value: probability,
        truth: truthValue,
        weight: rowWeight,
        count: 1,
      });
    else knownCell.count += 1;
  }
  const allCells = [...byWeight.values()].flat().flatMap((byValue) => Array.from(byValue.values()));
  return allCells.toSorted(
    (firstCell, secondCell) =>
      firstCell.value - secondCell.value ||
      firstCell.truth - secondCell.truth ||
      firstCell.weight - secondCell.weight,
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
export function poolRows(probabilities: Numbers, truth: Numbers, weights?: Numbers): Pool {
  const valueGroups = [
    ...Map.groupBy(listCells(probabilities, truth, weights), ({ value }) => value),
  ];
  const listSums = (amountOf: (pooledCell: Cell) => number) =>
    Float64Array.from(valueGroups, ([, groupCells]) =>
      groupCells.reduce((runningSum, pooledCell) => runningSum + amountOf(pooledCell), 0),
    );
  return {
    values: Float64Array.from(valueGroups, ([value]) => value),
    counts: listSums(({ count }) => count),
    weights: listSums(({ count, weight }) => count * weight),
    positives: listSums(({ count, weight, truth: isTrue }) => count * weight * isTrue),
  };
}

/** Draws anew which rows of a pool are positive, each row with the same chance; returns their number at each value. */
export function mixPositives(
  { counts, positives }: Pick<Pool, "counts" | "positives">,
  nextRandom: () => number,
): Float64Array {
  let remainingCount = computeSum(counts);
  let negatives = remainingCount - computeSum(positives);
  return counts.map((valueCount) => {
    const drawnCount = drawHypergeometric(
      { first: valueCount, second: remainingCount - valueCount, draws: negatives },
      nextRandom,
    );
    remainingCount -= valueCount;
    negatives -= drawnCount;
    return valueCount - drawnCount;
  });
}

/** Returns the closest values that never descend: pool-adjacent-violators by weight. */
export function monotoneMeans(valueSums: Numbers, weights: Numbers): Float64Array {
  const meanBlocks: { sum: number; weight: number; size: number }[] = [];
  for (let valueIndex = 0; valueIndex < valueSums.length; valueIndex += 1) {
    const newBlock = {
      sum: valueSums[valueIndex] as number,
      weight: weights[valueIndex] as number,
      size: 1,
    };
    let lastBlock = meanBlocks.at(-1);
    // Compared by products: a division could round two equal means apart.
    while (
      lastBlock !== undefined &&
      lastBlock.sum * newBlock.weight >= newBlock.sum * lastBlock.weight
    ) {
      newBlock.sum += lastBlock.sum;
      newBlock.weight += lastBlock.weight;
      newBlock.size += lastBlock.size;
      meanBlocks.pop();
      lastBlock = meanBlocks.at(-1);
    }
    meanBlocks.push(newBlock);
  }
  const fittedValues = new Float64Array(valueSums.length);
  let blockStart = 0;
  for (const { sum, weight, size } of meanBlocks) {
    fittedValues.fill(sum / weight, blockStart, blockStart + size);
    blockStart += size;
  }
  return fittedValues;
}

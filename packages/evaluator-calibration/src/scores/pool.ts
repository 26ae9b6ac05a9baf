import type { Numbers } from "../math/rows.ts";

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
  return poolHundredths(p, truth, weights) ?? poolSorted(p, truth, weights);
}

function emptyPool(length: number): Pool {
  const column = () => new Float64Array(length);
  return { values: column(), counts: column(), weights: column(), positives: column() };
}

function add(sums: Float64Array, at: number, amount: number): void {
  sums[at] = (sums[at] as number) + amount;
}

function poolHundredths(p: Numbers, truth: Numbers, weights?: Numbers): Pool | null {
  if (weights !== undefined) return null;
  const pool = emptyPool(101);
  for (let i = 0; i < p.length; i += 1) {
    const hundredth = Math.round(100 * (p[i] as number));
    if (hundredth / 100 !== p[i]) return null;
    add(pool.counts, hundredth, 1);
    add(pool.positives, hundredth, truth[i] as number);
  }
  const isUsed = (_: number, index: number) => pool.counts[index] !== 0;
  return {
    values: pool.values.map((_, hundredth) => hundredth / 100).filter(isUsed),
    counts: pool.counts.filter(isUsed),
    weights: pool.counts.filter(isUsed),
    positives: pool.positives.filter(isUsed),
  };
}

function poolSorted(p: Numbers, truth: Numbers, weights?: Numbers): Pool {
  const weightOf = (row: number) => (weights === undefined ? 1 : (weights[row] as number));
  const order = Uint32Array.from({ length: p.length }, (_, row) => row);
  // Weight and truth are compared too, so that sums do not depend on the order of the rows.
  order.sort(
    (one, other) =>
      (p[one] as number) - (p[other] as number) ||
      weightOf(one) - weightOf(other) ||
      (truth[one] as number) - (truth[other] as number),
  );
  const isNew = (at: number) => at === 0 || p[order[at] as number] !== p[order[at - 1] as number];
  const pool = emptyPool(order.filter((_, at) => isNew(at)).length);
  let last = -1;
  for (const [at, row] of order.entries()) {
    if (isNew(at)) pool.values[++last] = p[row] as number;
    add(pool.counts, last, 1);
    add(pool.weights, last, weightOf(row));
    add(pool.positives, last, weightOf(row) * (truth[row] as number));
  }
  return pool;
}

/** Returns the closest values that never descend: pool-adjacent-violators by weight. */
export function monotoneMeans(sums: Numbers, weights: Numbers): Float64Array {
  const fitted = new Float64Array(sums.length);
  const blockSums = new Float64Array(sums.length);
  const blockWeights = new Float64Array(sums.length);
  const blockStarts = new Uint32Array(sums.length + 1);
  let blocks = 0;
  for (let i = 0; i < sums.length; i += 1) {
    blockSums[blocks] = sums[i] as number;
    blockWeights[blocks] = weights[i] as number;
    blockStarts[blocks] = i;
    blocks += 1;
    while (blocks > 1 && isDescending(blocks - 1)) {
      blocks -= 1;
      blockSums[blocks - 1] = (blockSums[blocks - 1] as number) + (blockSums[blocks] as number);
      blockWeights[blocks - 1] =
        (blockWeights[blocks - 1] as number) + (blockWeights[blocks] as number);
    }
  }
  blockStarts[blocks] = sums.length;
  for (let block = 0; block < blocks; block += 1) {
    const mean = (blockSums[block] as number) / (blockWeights[block] as number);
    fitted.fill(mean, blockStarts[block], blockStarts[block + 1]);
  }
  return fitted;

  function isDescending(block: number): boolean {
    // Compared by products: a division could round two equal means apart.
    const before = (blockSums[block - 1] as number) * (blockWeights[block] as number);
    return before >= (blockSums[block] as number) * (blockWeights[block - 1] as number);
  }
}

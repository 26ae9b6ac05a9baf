import { hashToShare } from "../math/random.ts";
import type { Numbers, Weighted } from "../math/rows.ts";
import { countRisks, cumulate, toHundredths } from "./risk-coverage.ts";

/** Rows that may be weighted. */
export interface Identified extends Weighted {
  /** The id of each row. It decides which of the weighted rows with one printed value and one weight count. */
  readonly ids?: readonly string[] | undefined;
}

interface ThinningOptions extends Identified {
  /** Rows below it do not count. */
  readonly from: number;
}

/**
 * Returns rows and wrong rows. Weighted rows at `from` and above are thinned to equal weight (systematic sampling): from the
 * highest printed value down, a row is kept if the sum of the weights passes another multiple of the heaviest. So each
 * threshold keeps as many rows as its weights say. (If one constant seed decides about each row alone, it may keep
 * too few heavy or light rows, and up to 10 % of promises were broken.)
 */
export function equalRows(
  sureness: Numbers,
  wrong: Numbers,
  options: ThinningOptions,
): ReturnType<typeof countRisks> {
  const allCounts = countRisks(sureness, wrong, options);
  if (options.weights === undefined) return allCounts;
  const alikeRows = listAlike(sureness, wrong, { ...options, weights: options.weights });
  const heaviest = alikeRows.reduce((mostWeight, { weight }) => Math.max(mostWeight, weight), 0);
  const thinnedCounts = { rows: new Float64Array(101), wrong: new Float64Array(101) };
  let [exactCount, keptCount] = [0, 0];
  for (const { at, weight, n, wrong: wrongCount } of alikeRows) {
    exactCount += (n * weight) / heaviest;
    const addedCount = Math.ceil(exactCount - 1e-9) - keptCount;
    keptCount += addedCount;
    thinnedCounts.rows[at] = (thinnedCounts.rows[at] as number) + addedCount;
    thinnedCounts.wrong[at] = (thinnedCounts.wrong[at] as number) + (addedCount * wrongCount) / n;
  }
  return cumulate(thinnedCounts);
}

/**
 * Returns the rows in an order that depends neither on their truths nor on the order of the lines: by printed value, weight
 * and the hash of the id. Rows without ids of which all these are equal are one entry, and count by their mean.
 */
function listAlike(
  sureness: Numbers,
  wrong: Numbers,
  { weights, ids, from }: ThinningOptions & { readonly weights: Numbers },
) {
  // Typed arrays and loops: objects and mappings of a million rows take several times as long.
  const rowHundredths = new Uint8Array(sureness.length);
  const hashPlaces = new Float64Array(sureness.length);
  for (let rowIndex = 0; rowIndex < rowHundredths.length; rowIndex += 1) {
    rowHundredths[rowIndex] = toHundredths(sureness[rowIndex] as number);
    hashPlaces[rowIndex] = hashToShare(ids?.[rowIndex] ?? "");
  }
  const compare = (firstRow: number, secondRow: number) =>
    (rowHundredths[secondRow] as number) - (rowHundredths[firstRow] as number) ||
    (weights[secondRow] as number) - (weights[firstRow] as number) ||
    (hashPlaces[firstRow] as number) - (hashPlaces[secondRow] as number);
  const lowestHundredths = toHundredths(from);
  const actedRows = Uint32Array.from(rowHundredths.keys()).filter(
    (rowIndex) => (rowHundredths[rowIndex] as number) >= lowestHundredths,
  );
  const entries: { at: number; weight: number; n: number; wrong: number }[] = [];
  let rowBefore: number | undefined;
  for (const rowIndex of actedRows.toSorted(compare)) {
    if (rowBefore === undefined || compare(rowBefore, rowIndex) !== 0) {
      entries.push({
        at: rowHundredths[rowIndex] as number,
        weight: weights[rowIndex] as number,
        n: 0,
        wrong: 0,
      });
    }
    const lastEntry = entries.at(-1) as (typeof entries)[number];
    lastEntry.n += 1;
    lastEntry.wrong += Number(wrong[rowIndex] === 1);
    rowBefore = rowIndex;
  }
  return entries;
}

/** Returns counts of weighted rows as whole numbers, rounded to the side of the weaker promise. */
export function wholeCounts({ n, wrong }: { readonly n: number; readonly wrong: number }) {
  const wholeRows = Math.floor(n + 1e-9);
  return { n: wholeRows, wrong: Math.min(wholeRows, Math.ceil(Math.max(0, wrong - 1e-9))) };
}

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
  const all = countRisks(sureness, wrong, options);
  if (options.weights === undefined) return all;
  const rows = listAlike(sureness, wrong, { ...options, weights: options.weights });
  const heaviest = rows.reduce((most, { weight }) => Math.max(most, weight), 0);
  const counts = { rows: new Float64Array(101), wrong: new Float64Array(101) };
  let [sum, keptCount] = [0, 0];
  for (const { at, weight, n, wrong: wrongCount } of rows) {
    sum += (n * weight) / heaviest;
    const count = Math.ceil(sum - 1e-9) - keptCount;
    keptCount += count;
    counts.rows[at] = (counts.rows[at] as number) + count;
    counts.wrong[at] = (counts.wrong[at] as number) + (count * wrongCount) / n;
  }
  return cumulate(counts);
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
  const at = new Uint8Array(sureness.length);
  const places = new Float64Array(sureness.length);
  for (let row = 0; row < at.length; row += 1) {
    at[row] = toHundredths(sureness[row] as number);
    places[row] = hashToShare(ids?.[row] ?? "");
  }
  const compare = (one: number, other: number) =>
    (at[other] as number) - (at[one] as number) ||
    (weights[other] as number) - (weights[one] as number) ||
    (places[one] as number) - (places[other] as number);
  const lowest = toHundredths(from);
  const order = Uint32Array.from(at.keys()).filter((row) => (at[row] as number) >= lowest);
  const entries: { at: number; weight: number; n: number; wrong: number }[] = [];
  let before: number | undefined;
  for (const row of order.toSorted(compare)) {
    if (before === undefined || compare(before, row) !== 0) {
      entries.push({ at: at[row] as number, weight: weights[row] as number, n: 0, wrong: 0 });
    }
    const entry = entries.at(-1) as (typeof entries)[number];
    entry.n += 1;
    entry.wrong += Number(wrong[row] === 1);
    before = row;
  }
  return entries;
}

/** Returns counts of weighted rows as whole numbers, rounded to the side of the weaker promise. */
export function wholeCounts({ n, wrong }: { readonly n: number; readonly wrong: number }) {
  const rows = Math.floor(n + 1e-9);
  return { n: rows, wrong: Math.min(rows, Math.ceil(Math.max(0, wrong - 1e-9))) };
}

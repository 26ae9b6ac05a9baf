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
  const rows = Array.from(weights, (weight, row) => {
    const place = hashToShare(ids?.[row] ?? "");
    const at = toHundredths(sureness[row] as number);
    return { at, weight, place, wrong: wrong[row] as number };
  });
  const alike = Map.groupBy(
    rows.filter(({ at }) => at >= toHundredths(from)),
    ({ at, weight, place }) => `${at} ${weight} ${place}`,
  );
  const entries = Array.from(alike.values(), (own) => ({
    ...(own[0] as (typeof own)[number]),
    n: own.length,
    wrong: own.filter((row) => row.wrong === 1).length,
  }));
  return entries.toSorted(
    (one, other) => other.at - one.at || other.weight - one.weight || one.place - other.place,
  );
}

/** Returns counts of weighted rows as whole numbers, rounded to the side of the weaker promise. */
export function wholeCounts({ n, wrong }: { readonly n: number; readonly wrong: number }) {
  const rows = Math.floor(n + 1e-9);
  return { n: rows, wrong: Math.min(rows, Math.ceil(Math.max(0, wrong - 1e-9))) };
}

import { checkIndexes, checkLengths, type Numbers } from "../check-rows.ts";

/**
 * Returns how far two labelers agree beyond chance (Cohen's kappa), 1 where they always do; NaN if
 * both give one and the same label to all. Labels are whole numbers; `quadratic` weighs a disagreement
 * by the square of their distance, as levels need.
 */
export function cohenKappa(
  a: Numbers,
  b: Numbers,
  { weights = "none" }: { readonly weights?: "none" | "quadratic" } = {},
): number {
  checkLengths(["a", a], ["b", b]);
  checkIndexes(a, Infinity, "a");
  checkIndexes(b, Infinity, "b");
  const distance = (one: number, other: number) =>
    weights === "quadratic" ? (one - other) ** 2 : Number(one !== other);
  const [countsA, countsB] = [countsOf(a), countsOf(b)];
  let [observed, byChance] = [0, 0];
  for (let i = 0; i < a.length; i += 1) observed += distance(a[i] as number, b[i] as number);
  for (const [one, n] of countsA) {
    for (const [other, m] of countsB) byChance += distance(one, other) * n * (m / a.length);
  }
  return byChance === 0 ? Number.NaN : 1 - observed / byChance;
}

function countsOf(labels: Numbers): Map<number, number> {
  const counts = new Map<number, number>();
  for (let i = 0; i < labels.length; i += 1) {
    const label = labels[i] as number;
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts;
}

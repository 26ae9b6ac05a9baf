import { tierNames } from "../tier-question.ts";
import type { Counts } from "./gain-curve.ts";
import type { JudgedPrompt } from "./policies.ts";

/** The mean quality and cost of a prompt. */
interface Point {
  readonly quality: number;
  readonly cost: number;
}

/** Returns the mean quality and cost of prompts, each answered by its tier. */
export function pointOf(
  prompts: readonly JudgedPrompt[],
  tierAt: (at: number) => number,
  counts?: Counts,
): Point {
  let [n, quality, cost] = [0, 0, 0];
  for (const [at, prompt] of prompts.entries()) {
    const weight = counts?.[at] ?? 1;
    n += weight;
    quality += weight * (prompt.quality[tierAt(at)] ?? 0);
    cost += weight * (prompt.cost[tierAt(at)] ?? 0);
  }
  return { quality: quality / n, cost: cost / n };
}

/** Returns the point of each tier, if it answered all prompts. */
export function tierPoints(prompts: readonly JudgedPrompt[], counts?: Counts): Point[] {
  return tierNames.map((_, tier) => pointOf(prompts, () => tier, counts));
}

/** Returns the tier with the lowest cost, the first of equals. */
export function cheapestOf(tiers: readonly Point[]): number {
  const costs = tiers.map(({ cost }) => cost);
  return costs.indexOf(Math.min(...costs));
}

/** Two sums of the same terms in different orders differ by less. */
export const ROUNDING = 1e-9;

/** A random mix of tiers, which looks at no prompt, and each tier's share of it. */
interface Mix {
  readonly quality: number;
  readonly shares: readonly number[];
}

/** Returns the best mix of two tiers at a cost, or at the nearest cost that a mix can have. */
export function mixAt(tiers: readonly Point[], cost: number): Mix {
  const costs = tiers.map((tier) => tier.cost);
  const spent = Math.min(Math.max(cost, Math.min(...costs)), Math.max(...costs));
  const mixes = tiers.flatMap((less, low) =>
    tiers.flatMap((more, high) => {
      if (less.cost > spent || more.cost < spent) return [];
      const share = (spent - less.cost) / (more.cost - less.cost) || 0; // equal costs: 0 of 0
      const shares = tiers.map((_, at) => Number(at === low) * (1 - share));
      shares[high] = (shares[high] ?? 0) + share;
      return { quality: less.quality + share * (more.quality - less.quality), shares };
    }),
  );
  return bestOf(mixes);
}

/** Returns the best mix, or single tier, that costs no more. */
export function rivalOf(tiers: readonly Point[], cost: number): Mix {
  const affordable = tiers.filter((tier) => tier.cost <= cost * (1 + ROUNDING));
  return bestOf([...affordable.map((tier) => mixAt(tiers, tier.cost)), mixAt(tiers, cost)]);
}

function bestOf(mixes: readonly Mix[]): Mix {
  return mixes.reduce((best, mix) => (mix.quality > best.quality ? mix : best));
}

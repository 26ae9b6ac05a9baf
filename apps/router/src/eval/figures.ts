import type { Estimate, Interval } from "evaluator-calibration";
import { tierNames } from "../decision/tier-question.ts";
import type { JudgedPrompt } from "./prompts.ts";

/** Draws of prompts with replacement, shared by all figures. */
export type Draws = ReturnType<typeof createDraws>;

/** Draws `n` prompts; the same seed gives the same draws. */
export function createDraws(n: number, { seed, draws }: { seed: number; draws: number }) {
  const random = seeded(seed);
  const all = Array.from({ length: draws }, () => {
    const counts = Array.from({ length: n }, () => 0);
    for (let drawn = 0; drawn < n; drawn += 1) {
      const at = Math.floor(random() * n);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    return counts;
  });
  const meanOf = (values: readonly number[], counts?: readonly number[]) =>
    values.reduce((sum, value, at) => sum + value * (counts?.[at] ?? 1), 0) / n;
  return {
    /** Calls back once per draw, with the count of each prompt. */
    each: <TResult>(of: (counts: readonly number[]) => TResult) => all.map(of),
    /** Returns the mean of one value per prompt. */
    mean: (values: readonly number[]) =>
      estimate(
        meanOf(values),
        all.map((counts) => meanOf(values, counts)),
      ),
  };
}

/** Returns a figure with the middle 95 % of its draws. */
export function estimate(value: number, drawn: readonly number[]): Estimate {
  const sorted = drawn.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? value;
  return { value, low: at(0.025), high: at(0.975) };
}

/** Generates random orders of values, in one array. */
export function* shuffles(
  values: readonly number[],
  { seed, orders }: { seed: number; orders: number },
): Generator<number[]> {
  const random = seeded(seed);
  const shuffled = [...values];
  for (let order = 0; order < orders; order += 1) {
    for (let at = shuffled.length - 1; at > 0; at -= 1) {
      const other = Math.floor(random() * (at + 1));
      [shuffled[at], shuffled[other]] = [shuffled[other] ?? 0, shuffled[at] ?? 0];
    }
    yield shuffled;
  }
}

/** The generator mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a share in percent, with its interval. */
export function percent({ share, low, high }: Interval & { readonly share: number }): string {
  return `${whole(share)} (${whole(low)} to ${whole(high)})`;
}

/** Returns a difference of two qualities in hundredths, with its interval. */
export function points({ value, low, high }: Estimate): string {
  const [at, from, to] = [value, low, high].map((quality) => Math.round(1000 * quality) / 10 + 0); // no -0
  return `${at} points (${from} to ${to})`;
}

function whole(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** Returns a figure of three digits with its interval; a dash for null. */
export function figure(estimate: Estimate | null): string {
  if (estimate === null) return "–";
  return `${three(estimate.value)} (${three(estimate.low)} to ${three(estimate.high)})`;
}

function three(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** A point of a curve: the share of prompts for the frontier tier, and the recovered gap. */
interface GainPoint {
  readonly share: number;
  /** Part of the quality between always the cheapest and always frontier, 0..1 (PGR). */
  readonly recovered: number;
}

/** Prompts from the hardest to the easiest, grouped by hardness. */
type Order = readonly (readonly number[])[];

/** Returns the order of prompts by a value, the highest first. */
export function orderBy(values: readonly number[]): Order {
  const indexes = [...values.keys()].toSorted(
    (one, other) => (values[other] ?? 0) - (values[one] ?? 0),
  );
  const groups: number[][] = [];
  let before = Number.NaN;
  for (const index of indexes) {
    const value = values[index] ?? 0;
    if (value === before) groups.at(-1)?.push(index);
    else groups.push([index]);
    before = value;
  }
  return groups;
}

/** The count of each prompt in a draw with replacement. */
export type Counts = readonly number[];

/**
 * Returns the gain if the hardest prompts go to the frontier tier and all others to the cheapest; in a
 * group of equals, the curve is straight. APGR is the mean recovered gap over all shares; CPT is the
 * smallest share that recovers half, or four fifths, of the gap.
 */
export function gainOf(prompts: readonly JudgedPrompt[], order: Order, counts?: Counts) {
  const weight = (index: number) => counts?.[index] ?? 1;
  const gapOf = (index: number) => {
    const { quality } = prompts[index] ?? { quality: [] };
    return (quality.at(-1) ?? 0) - (quality[0] ?? 0);
  };
  const groups = order.map((group) => ({
    size: sum(group, weight),
    gap: sum(group, (index) => weight(index) * gapOf(index)),
  }));
  const total = sum(groups, ({ size }) => size);
  const gap = sum(groups, ({ gap }) => gap);
  if (gap <= 0) return { points: [], apgr: null, cpt50: null, cpt80: null };
  const points: GainPoint[] = [{ share: 0, recovered: 0 }];
  let [asked, recovered, apgr] = [0, 0, 0];
  for (const group of groups) {
    if (group.size === 0) continue;
    const width = group.size / total;
    apgr += width * (recovered + group.gap / gap / 2);
    asked += width;
    recovered += group.gap / gap;
    points.push({ share: asked, recovered });
  }
  return { points, apgr, cpt50: shareFor(points, 0.5), cpt80: shareFor(points, 0.8) };
}

function shareFor(points: readonly GainPoint[], wanted: number): number | null {
  for (const [index, { share, recovered }] of points.entries()) {
    const before = points[index - 1];
    if (recovered < wanted) continue;
    if (before === undefined || recovered === before.recovered) return share;
    const part = (wanted - before.recovered) / (recovered - before.recovered);
    return before.share + part * (share - before.share);
  }
  return null;
}

function sum<TItem>(items: readonly TItem[], value: (item: TItem) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

type Point = ReturnType<typeof pointOf>;

/** Returns the mean quality and cost of prompts, each answered by its tier. */
export function pointOf(
  prompts: readonly JudgedPrompt[],
  tierAt: (at: number) => number,
  counts?: Counts,
) {
  let [n, quality, cost] = [0, 0, 0];
  for (const [at, prompt] of prompts.entries()) {
    const weight = counts?.[at] ?? 1;
    n += weight;
    quality += weight * (prompt.quality[tierAt(at)] ?? 0);
    cost += weight * (prompt.cost[tierAt(at)] ?? 0);
  }
  return { quality: quality / n, cost: cost / n };
}

/** Returns the point of each tier if it answers all prompts. */
export function tierPoints(prompts: readonly JudgedPrompt[], counts?: Counts): Point[] {
  return tierNames.map((_, tier) => pointOf(prompts, () => tier, counts));
}

/** Returns the tier with the lowest cost, the first of equals. */
export function cheapestOf(tiers: readonly Point[]): number {
  const costs = tiers.map(({ cost }) => cost);
  return costs.indexOf(Math.min(...costs));
}

/** Sums of the same terms in different orders differ by less. */
export const ROUNDING = 1e-9;

/** A random mix of tiers, and their shares. */
interface Mix {
  readonly quality: number;
  readonly shares: readonly number[];
}

/** Returns the best mix of two tiers at a cost, or at the nearest possible cost. */
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

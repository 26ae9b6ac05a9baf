import type { Estimate, Interval } from "evaluator-calibration";
import { seededRandom } from "evaluator-kit";
import { tierNames } from "../decision/tier-question.ts";
import type { JudgedPrompt, Point } from "./judged-prompts.ts";

type Prompts = readonly JudgedPrompt[];

/** Draws as many prompts with replacement, several times; the same seed gives the same draws. */
export function drawPrompts(prompts: Prompts, { seed, draws }: { seed: number; draws: number }) {
  const random = seededRandom(seed);
  return Array.from({ length: draws }, () =>
    prompts.flatMap(() => prompts[Math.floor(random() * prompts.length)] ?? []),
  );
}

/** Returns the figures of all prompts with the middle 95 % of their draws, except draws without one. */
export function estimate<TFigures extends Record<string, number | null>>(
  prompts: Prompts,
  draws: readonly Prompts[],
  figuresOf: (prompts: Prompts) => TFigures,
) {
  const drawn = draws.map((draw) => figuresOf(draw));
  const estimates = Object.entries(figuresOf(prompts)).map(([name, value]) => {
    if (value === null) return [name, null];
    const sorted = drawn.flatMap((each) => each[name] ?? []).toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? value;
    return [name, { value, low: at(0.025), high: at(0.975) }];
  });
  return Object.fromEntries(estimates) as {
    [TName in keyof TFigures]: Estimate | Extract<TFigures[TName], null>;
  };
}

/** Returns a share in percent, with its interval. */
export function percent({ share, low, high }: Interval & { readonly share: number }): string {
  const [at, from, to] = [share, low, high].map((each) => `${(100 * each).toFixed(1)}%`);
  return `${at} (${from} to ${to})`;
}

/** Returns a figure of three digits with its interval; a dash for null. */
export function figure(estimate: Estimate | null): string {
  if (estimate === null) return "–";
  const { value, low, high } = estimate;
  const [at, from, to] = [value, low, high].map((each) =>
    each.toLocaleString("en", { maximumSignificantDigits: 3 }),
  );
  return `${at} (${from} to ${to})`;
}

/** The share of prompts for the frontier tier, and the recovered part of the gap, 0..1 (PGR). */
type GainPoint = Readonly<Record<"share" | "recovered", number>>;

/**
 * Returns the gain if the prompts with the highest values go to the frontier tier and all others to
 * the cheapest; among equal values, the curve is straight. APGR is the mean recovered gap over all
 * shares; CPT is the smallest share that recovers half, or four fifths, of the gap.
 */
export function gainOf(prompts: Prompts, valueOf: (prompt: JudgedPrompt) => number) {
  const gap = gapOf(prompts);
  if (gap <= 0) return { points: [], figures: { apgr: null, cpt50: null, cpt80: null } };
  const groups = [...Map.groupBy(prompts, valueOf)].toSorted(([one], [other]) => other - one);
  const points: GainPoint[] = [{ share: 0, recovered: 0 }];
  let [asked, recovered, apgr] = [0, 0, 0];
  for (const [, group] of groups) {
    const width = group.length / prompts.length;
    const gained = gapOf(group) / gap;
    apgr += width * (recovered + gained / 2);
    asked += width;
    recovered += gained;
    points.push({ share: asked, recovered });
  }
  const [cpt50, cpt80] = [shareFor(points, 0.5), shareFor(points, 0.8)];
  return { points, figures: { apgr, cpt50, cpt80 } };
}

function gapOf(prompts: Prompts): number {
  return prompts.reduce((sum, { tiers }) => sum + tiers.frontier.quality - tiers.nano.quality, 0);
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

/** Returns the mean quality and cost of prompts. */
export function pointOf(
  prompts: Prompts,
  pointAt: (prompt: JudgedPrompt, at: number) => Point,
): Point {
  let [quality, cost] = [0, 0];
  prompts.forEach((prompt, at) => {
    const point = pointAt(prompt, at);
    quality += point.quality;
    cost += point.cost;
  });
  return { quality: quality / prompts.length, cost: cost / prompts.length };
}

/** Returns the point of each tier if it answers all prompts. */
export function tierPoints(prompts: Prompts): Point[] {
  return tierNames.map((tier) => pointOf(prompts, ({ tiers }) => tiers[tier]));
}

/** Returns the number of the tier with the lowest cost, the first of equals. */
export function cheapestOf(tiers: readonly Point[]): number {
  const costs = tiers.map(({ cost }) => cost);
  return costs.indexOf(Math.min(...costs));
}

/** Prepares the mixes of two tiers; returns the best one at a cost, or at the nearest possible cost. */
export function mixesOf(tiers: readonly Point[]) {
  const costs = tiers.map((tier) => tier.cost);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const pairs = tiers.flatMap((less, low) =>
    tiers.flatMap((more, high) => (less.cost > more.cost ? [] : { less, low, more, high })),
  );
  return (cost: number) => {
    const spent = Math.min(Math.max(cost, least), most);
    const best = { quality: Number.NEGATIVE_INFINITY, share: 0, low: 0, high: 0 };
    for (const { less, low, more, high } of pairs) {
      if (less.cost > spent || more.cost < spent) continue;
      const share = (spent - less.cost) / (more.cost - less.cost) || 0; // equal costs: 0 of 0
      const quality = less.quality + share * (more.quality - less.quality);
      if (quality > best.quality) Object.assign(best, { quality, share, low, high });
    }
    const shares = tiers.map((_, at) => Number(at === best.low) * (1 - best.share));
    shares[best.high] = (shares[best.high] ?? 0) + best.share;
    return { quality: best.quality, shares };
  };
}

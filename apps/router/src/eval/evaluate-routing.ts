import { wilson } from "evaluator-calibration";
import { tierNames } from "../decision/tier-question.ts";
import { adviseOn, type FigureOptions } from "./advice.ts";
import {
  cheapestOf,
  createDraws,
  type Draws,
  estimate,
  gainOf,
  mixAt,
  orderBy,
  pointOf,
  tierPoints,
} from "./figures.ts";
import { hardness, type JudgedPrompt, tierOf } from "./prompts.ts";

/** The figures of a routing. */
export type RoutingFigures = ReturnType<typeof evaluateRouting>;

/** Returns the figures of at least one routed prompt. */
export function evaluateRouting(prompts: readonly JudgedPrompt[], options: FigureOptions) {
  const { policy, seed, draws } = options;
  const used = prompts.map(({ decision }) => tierOf(decision, policy));
  const right = prompts.map(({ rightTier, quality, cost }, at) => {
    const tier = tierNames.indexOf(rightTier);
    const own = used[at] ?? 0;
    return quality[own] === quality[tier] && cost[own] === cost[tier] ? own : tier; // one model
  });
  const samples = createDraws(prompts.length, { seed, draws });
  const shareOf = (isSo: (at: number) => boolean) => {
    const count = used.filter((_, at) => isSo(at)).length;
    return { share: count / prompts.length, ...wilson(count, prompts.length) };
  };
  return {
    n: prompts.length,
    /** Right tier by row, used tier by column. */
    confusion: tierNames.map((_, row) =>
      tierNames.map(
        (_, column) => used.filter((tier, at) => tier === column && right[at] === row).length,
      ),
    ),
    right: shareOf((at) => used[at] === right[at]),
    over: shareOf((at) => (used[at] ?? 0) > (right[at] ?? 0)),
    under: shareOf((at) => (used[at] ?? 0) < (right[at] ?? 0)),
    /** Mean quality and cost of each way to choose tiers. */
    ways: waysOf(prompts, used).map(([name, value]) => ({
      name,
      quality: samples.mean(prompts.map((_, at) => value(at, "quality"))),
      cost: samples.mean(prompts.map((_, at) => value(at, "cost"))),
    })),
    orders: ordersOf(prompts).map((order) => orderFigures(prompts, order, samples)),
    advice: adviseOn(prompts, options),
  };
}

/** The routing, and simpler ways for comparison. */
function waysOf(
  prompts: readonly JudgedPrompt[],
  used: readonly number[],
): [name: string, value: WayValue][] {
  const tiers = tierPoints(prompts);
  const { cost } = pointOf(prompts, (at) => used[at] ?? 0);
  const shares = tierNames.map((_, tier) => used.filter((at) => at === tier).length / used.length);
  const ways: [name: string, value: WayValue][] = [
    ["as routed", byTier(prompts, (at) => used[at] ?? 0)],
    ["always the cheapest", byTier(prompts, () => cheapestOf(tiers))],
    ["always frontier", byTier(prompts, () => tierNames.length - 1)],
    ["random, in the same shares", randomly(prompts, shares)],
    ["random, at equal cost", randomly(prompts, mixAt(tiers, cost).shares)],
  ];
  if (!hasLengths(prompts)) return ways;
  const byLength = tiersByLength(prompts, used);
  return [...ways, ["by length, in the same shares", byTier(prompts, (at) => byLength[at] ?? 0)]];
}

function ordersOf(prompts: readonly JudgedPrompt[]): NamedOrder[] {
  const orders: NamedOrder[] = [
    ["the evaluation model", prompts.map(({ decision }) => hardness(decision))],
    ["random", prompts.map(() => 0)],
  ];
  if (!hasLengths(prompts)) return orders;
  return [...orders, ["prompt length", prompts.map(({ length }) => length ?? 0)]];
}

function hasLengths(prompts: readonly JudgedPrompt[]): boolean {
  return prompts.every(({ length }) => length !== null);
}

type WayValue = (at: number, of: "quality" | "cost") => number;

function byTier(prompts: readonly JudgedPrompt[], tierAt: (at: number) => number): WayValue {
  return (at, of) => prompts[at]?.[of][tierAt(at)] ?? 0;
}

/** A prompt's mean over the tiers, weighted by their shares. */
function randomly(prompts: readonly JudgedPrompt[], shares: readonly number[]): WayValue {
  return (at, of) =>
    shares.reduce((sum, share, tier) => sum + share * (prompts[at]?.[of][tier] ?? 0), 0);
}

/** Prompts are ordered by these values, the highest first. */
type NamedOrder = [name: string, values: readonly number[]];

function orderFigures(
  prompts: readonly JudgedPrompt[],
  [name, values]: NamedOrder,
  samples: Draws,
) {
  const order = orderBy(values);
  const gain = gainOf(prompts, order);
  const drawn = samples.each((counts) => gainOf(prompts, order, counts));
  const withInterval = (figure: "apgr" | "cpt50" | "cpt80") => {
    const value = gain[figure];
    if (value === null) return null;
    return estimate(
      value,
      drawn.flatMap((each) => each[figure] ?? []),
    );
  };
  return {
    name,
    points: gain.points,
    apgr: withInterval("apgr"),
    cpt50: withInterval("cpt50"),
    cpt80: withInterval("cpt80"),
  };
}

/** As many prompts of each tier as routed, the longest prompts with the highest tiers. */
function tiersByLength(prompts: readonly JudgedPrompt[], used: readonly number[]): number[] {
  const order = [...prompts.keys()].toSorted(
    (one, other) => (prompts[one]?.length ?? 0) - (prompts[other]?.length ?? 0),
  );
  const sorted = [...used].toSorted((one, other) => one - other);
  const tiers = prompts.map(() => 0);
  for (const [rank, index] of order.entries()) tiers[index] = sorted[rank] ?? 0;
  return tiers;
}

import { type Estimate, type Interval, wilson } from "evaluator-calibration";
import type { ChoicePolicy } from "../decision/decision.ts";
import { tierNames } from "../tier-question.ts";
import { type Gain, gainOf, orderBy } from "./gain-curve.ts";
import { hardness, type JudgedPrompt, tierOf, tiersByLength } from "./policies.ts";
import { createDraws, type Draws, estimate } from "./draws.ts";

/** What one way to choose tiers costs and gives, for each prompt in the mean. */
interface WayFigures {
  readonly name: string;
  readonly quality: Estimate;
  readonly cost: Estimate;
}

/** An order's gain, with intervals. */
interface OrderFigures extends Pick<Gain, "points"> {
  readonly name: string;
  readonly apgr: Estimate | null;
  readonly cpt50: Estimate | null;
  readonly cpt80: Estimate | null;
}

/** The dial of least confidence, fitted on one half of the prompts and checked on the other. */
interface DialFigures {
  /** The value of the dial that is best on the first half; null for off. */
  readonly best: number | null;
  readonly fittedOn: number;
  readonly checkedOn: number;
  /** On the other half: off, and as fitted. */
  readonly off: DialPoint;
  readonly on: DialPoint;
  /** Each twentieth from 0.05 to 1 on the other half, for the curve. */
  readonly settings: readonly DialPoint[];
}

interface DialPoint {
  readonly quality: number;
  readonly cost: number;
  /** Quality recovered less cost spent, each from 0 (always cheapest) to 1 (always dearest). */
  readonly value: number;
}

/** Everything that is said of the routing of some prompts. */
export interface RoutingFigures {
  readonly n: number;
  /** Right tier by row, used tier by column. */
  readonly confusion: readonly (readonly number[])[];
  readonly right: Interval & { readonly share: number };
  readonly over: Interval & { readonly share: number };
  readonly under: Interval & { readonly share: number };
  readonly ways: readonly WayFigures[];
  readonly orders: readonly OrderFigures[];
  readonly dial: DialFigures;
}

/** How the figures are drawn. */
export interface FigureOptions {
  readonly policy: ChoicePolicy;
  readonly seed: number;
  /** Draws with replacement for each interval. */
  readonly draws: number;
}

/** Returns the figures of routed prompts; there is at least one. */
export function evaluateRouting(
  prompts: readonly JudgedPrompt[],
  { policy, seed, draws }: FigureOptions,
): RoutingFigures {
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
    confusion: tierNames.map((_, row) =>
      tierNames.map(
        (_, column) => used.filter((tier, at) => tier === column && right[at] === row).length,
      ),
    ),
    right: shareOf((at) => used[at] === right[at]),
    over: shareOf((at) => (used[at] ?? 0) > (right[at] ?? 0)),
    under: shareOf((at) => (used[at] ?? 0) < (right[at] ?? 0)),
    ways: waysOf(prompts, used).map(([name, value]) => ({
      name,
      quality: samples.mean(prompts.map((_, at) => value(at, "quality"))),
      cost: samples.mean(prompts.map((_, at) => value(at, "cost"))),
    })),
    orders: ordersOf(prompts).map((order) => orderFigures(prompts, order, samples)),
    dial: fitDial(prompts, policy.ties),
  };
}

/** Returns the routing as it was, and simpler ways beside it. */
function waysOf(
  prompts: readonly JudgedPrompt[],
  used: readonly number[],
): [name: string, value: WayValue][] {
  const frontier = tierNames.length - 1;
  const ways: [name: string, value: WayValue][] = [
    ["as routed", byTier(prompts, used)],
    [
      "always the cheapest",
      byTier(
        prompts,
        Array.from(used, () => 0),
      ),
    ],
    [
      "always frontier",
      byTier(
        prompts,
        Array.from(used, () => frontier),
      ),
    ],
    ["random, in the same shares", randomly(prompts, used)],
  ];
  if (!hasLengths(prompts)) return ways;
  return [
    ...ways,
    ["by length, in the same shares", byTier(prompts, tiersByLength(prompts, used))],
  ];
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

/** Returns a prompt's quality or cost, by its number. */
type WayValue = (at: number, of: "quality" | "cost") => number;

/** Each prompt with a tier of its own. */
function byTier(prompts: readonly JudgedPrompt[], tiers: readonly number[]): WayValue {
  return (at, of) => prompts[at]?.[of][tiers[at] ?? 0] ?? 0;
}

/** A prompt's mean over the tiers, each as often as it was used. */
function randomly(prompts: readonly JudgedPrompt[], used: readonly number[]): WayValue {
  const shares = tierNames.map((_, tier) => used.filter((at) => at === tier).length / used.length);
  return (at, of) =>
    shares.reduce((sum, share, tier) => sum + share * (prompts[at]?.[of][tier] ?? 0), 0);
}

/** What prompts are ordered by, the highest value first. */
type NamedOrder = [name: string, values: readonly number[]];

function orderFigures(
  prompts: readonly JudgedPrompt[],
  [name, values]: NamedOrder,
  samples: Draws,
): OrderFigures {
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

const settings = Array.from({ length: 20 }, (_, step) => (step + 1) / 20);

/** Prompts of odd and even positions: the file's order has nothing to do with the labels, or is shuffled. */
function fitDial(prompts: readonly JudgedPrompt[], ties: ChoicePolicy["ties"]): DialFigures {
  const fit = prompts.filter((_, at) => at % 2 === 0);
  const check = prompts.filter((_, at) => at % 2 === 1);
  const half = check.length === 0 ? fit : check;
  const at = (half: readonly JudgedPrompt[], minConfidence: number | null) =>
    dialPoint(half, { minConfidence, ties });
  let [best, value] = [null as number | null, at(fit, null).value];
  for (const setting of settings) {
    const tried = at(fit, setting).value;
    if (tried > value) [best, value] = [setting, tried];
  }
  return {
    best,
    fittedOn: fit.length,
    checkedOn: half.length,
    off: at(half, null),
    on: at(half, best),
    settings: settings.map((setting) => at(half, setting)),
  };
}

function dialPoint(prompts: readonly JudgedPrompt[], policy: ChoicePolicy): DialPoint {
  const mean = (of: "quality" | "cost", tierAt: (prompt: JudgedPrompt) => number) =>
    prompts.reduce((sum, prompt) => sum + (prompt[of].at(tierAt(prompt)) ?? 0), 0) / prompts.length;
  const routed = (of: "quality" | "cost") => mean(of, ({ decision }) => tierOf(decision, policy));
  const part = (of: "quality" | "cost") => {
    const [low, high] = [mean(of, () => 0), mean(of, () => -1)];
    return high === low ? 0 : (routed(of) - low) / (high - low);
  };
  return {
    quality: routed("quality"),
    cost: routed("cost"),
    value: part("quality") - part("cost"),
  };
}

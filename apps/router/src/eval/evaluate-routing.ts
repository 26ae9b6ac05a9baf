import { isDeepStrictEqual } from "node:util";
import { clopperPearson } from "evaluator-calibration/statistics";
import { tierNames } from "../decision/tier-question.ts";
import { heldOutGains } from "../fit/fit-labels.ts";
import { type Draws, estimate, toGain, ROUNDING, toGaps } from "../labels/figures.ts";
import { computeGap, toPoint, tierPoints, toTierPoints } from "../labels/tier-points.ts";
import { applyPolicy } from "../decision/decide.ts";
import type { RouterOptions } from "../router-options.ts";
import type { DecidedPrompt } from "./decided-prompts.ts";
import { describeRouting, toDoubt, findDoubt, highestShare, pOfMean } from "../labels/verdict.ts";

type Prompts = readonly JudgedPrompt[];
type Point = JudgedPrompt["dear"];

/** Returns the figures of at least one routed prompt. */
export function evaluateRouting(prompts: Prompts, options: Parameters<typeof adviseOn>[1]) {
  const places = prompts.map((prompt) => [prompt.used, prompt.rightTier] as const);
  const excesses = places.map(
    ([used, right]) => tierNames.indexOf(used) - tierNames.indexOf(right),
  );
  const toShare = (isSo: (excess: number) => boolean) => {
    const count = excesses.filter(isSo).length;
    return { share: count / prompts.length, ...clopperPearson(count, prompts.length) };
  };
  return {
    n: prompts.length,
    confusion: findConfusion(prompts),
    right: toShare((excess) => excess === 0),
    over: toShare((excess) => excess > 0),
    under: toShare((excess) => excess < 0),
    ways: estimateWays(prompts, options),
    categories: listCategories(prompts, options),
    orders: listOrders(prompts, options.seed).map(([name, values]) => {
      const gaps = toGaps(prompts, values);
      const figures = estimate(gaps, options, (sample) => ({ apgr: toGain(sample).apgr }));
      return Object.assign({ name, points: toGain(gaps).points }, figures);
    }),
    advice: adviseOn(prompts, options),
  };
}

/** Right tier by row, used tier by column; null if fewer models than tiers are compared. */
function findConfusion(prompts: Prompts): number[][] | null {
  if (prompts.some(({ models }) => models !== null && models < tierNames.length)) return null;
  return tierNames.map((row) => {
    const ofRow = prompts.filter(({ rightTier }) => rightTier === row);
    return tierNames.map((column) => ofRow.filter(({ used }) => used === column).length);
  });
}

/** Returns the first ways for each category, from the file's first category on. */
function listCategories(prompts: Prompts, options: Draws) {
  const groups = Map.groupBy(prompts, ({ category }) => category);
  return [...groups].flatMap(([name, group]) =>
    name === null ? [] : { name, n: group.length, ways: estimateWays(group, options).slice(0, 3) },
  );
}

/** Returns the routing, and simpler ways for comparison. */
function estimateWays(prompts: Prompts, options: Draws) {
  const { cost } = toPoint(prompts.map(({ tiers, used }) => tiers[used]));
  const [cheap, dear] = [prompts.map((each) => each.cheap), prompts.map((each) => each.dear)];
  const up = mixAt(cost, toPoint(cheap), toPoint(dear));
  const ways: Record<string, (prompt: JudgedPrompt) => Point> = {
    "as routed": ({ tiers, used }) => tiers[used],
    "always the cheapest": (prompt) => prompt.cheap,
    "always frontier": (prompt) => prompt.dear,
    "random, at equal cost": (prompt) => ({
      quality: prompt.cheap.quality + up * computeGap(prompt),
      cost: prompt.cheap.cost + up * (prompt.dear.cost - prompt.cheap.cost),
    }),
    oracle: oraclePoint,
  };
  return Object.entries(ways).map(([name, pointAt]) => {
    const figures = estimate(prompts, options, (sample) => toPoint(sample.map(pointAt)));
    return Object.assign({ name }, figures);
  });
}

function oraclePoint({ tiers }: JudgedPrompt): Point {
  return Object.values(tiers).reduce((best, point) => {
    const isCheaper = point.quality === best.quality && point.cost < best.cost;
    return point.quality > best.quality || isCheaper ? point : best;
  });
}

/** Orders of prompts by values, the highest first. */
function listOrders(prompts: Prompts, seed: number) {
  const orders: [name: string, values: readonly number[]][] = [
    ["the evaluation model", prompts.map(({ decision }) => hardness(decision))],
    ["random", []],
  ];
  const lengths = prompts.flatMap(({ length }) => length ?? []);
  if (lengths.length < prompts.length) return orders;
  orders.push(["prompt length", lengths]);
  const withoutModel = prompts.map((prompt) => ({ ...prompt, probabilities: null }));
  return [...orders, ["labels alone, held out", heldOutGains(withoutModel, seed)] as const];
}

/** A labelled prompt with its decision, and the tier that the policy uses for it. */
type JudgedPrompt = ReturnType<typeof judgePrompts>[number];

/** Applies the policy. If the used tier and the right one have the same model, the used one is right. */
export function judgePrompts(
  prompts: readonly DecidedPrompt[],
  { policy, tierModels }: Pick<RouterOptions, "policy" | "tierModels">,
  costsOf: Parameters<typeof toTierPoints>[2],
) {
  return toTierPoints(prompts, tierModels, costsOf).map((label, at) => {
    const { decision } = prompts[at] as DecidedPrompt;
    const { tierUsed: used } = applyPolicy(decision.tierChosen, decision, policy);
    const { tiers, rightTier: right } = label;
    const rightTier = isDeepStrictEqual(tiers[used], tiers[right]) ? used : right;
    return Object.assign(label, { decision, used, rightTier });
  });
}

/** Returns how hard a prompt is by its decision: the mean tier of the shares. */
function hardness({ probabilities }: JudgedPrompt["decision"]): number {
  const mean = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * mean) / 1e6; // equal means of printed values differ in their last bits
}

/**
 * Returns whether to route, with the evaluated threshold, the saved share of the cost of always frontier
 * and the difference from its quality. Equal prompts count once: a copied label is no further evidence.
 */
export function adviseOn(
  all: readonly JudgedPrompt[],
  options: Draws & { readonly minConfidence: number | null },
) {
  const prompts = all.filter(({ isRepeat }) => !isRepeat);
  const nothing = { threshold: null, saving: null, quality: null };
  const values = prompts.map(({ decision }) => hardness(decision));
  const doubt = findDoubt(prompts, values, options);
  if (doubt !== null) return { ...doubt, ...nothing };
  const { gain, saving, quality } = weigh(prompts, options);
  const figures = { "the gain over a random mix at equal cost": gain, "the saving": saving };
  for (const [name, figure] of Object.entries(figures)) {
    const of = { ...figure, name, chance: 0 };
    if (figure.low <= ROUNDING) return { ...toDoubt(prompts.length, of), ...nothing };
  }
  const threshold = options.minConfidence ?? 0;
  const routing = describeRouting(threshold, saving.value, quality);
  const keptPercent = Math.floor(100 * keptShare(prompts) + ROUNDING);
  const sentence = `${routing}; 95 % sure that it keeps ${keptPercent} % of frontier's.`;
  return { verdict: "route" as const, sentence, threshold, saving, quality };
}

/** Compares the routing with always frontier, and with tiers and mixes that cost no more. */
function weigh(prompts: readonly JudgedPrompt[], options: Draws) {
  return estimate(prompts, options, (sample) => {
    const routedPoint = toPoint(sample.map(({ tiers, used }) => tiers[used]));
    const cheap = toPoint(sample.map((prompt) => prompt.cheap));
    const dear = toPoint(sample.map((prompt) => prompt.dear));
    const mixQuality =
      cheap.quality + mixAt(routedPoint.cost, cheap, dear) * (dear.quality - cheap.quality);
    const affordable = tierPoints(sample).filter(
      ({ cost }) => cost <= routedPoint.cost * (1 + ROUNDING),
    );
    return {
      gain: routedPoint.quality - Math.max(mixQuality, ...affordable.map(({ quality }) => quality)),
      saving: (dear.cost - routedPoint.cost) / Math.max(dear.cost, routedPoint.cost) || 0, // 0 of 0
      quality: routedPoint.quality - dear.quality,
    };
  });
}

/** Returns the share of frontier's quality that is kept with 95 % confidence. */
function keptShare(prompts: readonly JudgedPrompt[]): number {
  return highestShare((share) => {
    const keptValues = prompts.map(
      ({ tiers, used, dear }) => tiers[used].quality - share * dear.quality,
    );
    return pOfMean(keptValues, -share) <= 0.05;
  });
}

/** Returns the share of the dear tier in a random mix of both ends that has a cost, or the nearest one. */
function mixAt(cost: number, cheap: Point, dear: Point): number {
  const share = (cost - cheap.cost) / (dear.cost - cheap.cost) || 0; // equal costs: 0 of 0
  return Math.min(Math.max(share, 0), 1);
}

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
  const tierPairs = prompts.map((prompt) => [prompt.used, prompt.rightTier] as const);
  const excesses = tierPairs.map(
    ([usedTier, rightTier]) => tierNames.indexOf(usedTier) - tierNames.indexOf(rightTier),
  );
  const toShare = (isCounted: (excess: number) => boolean) => {
    const promptCount = excesses.filter(isCounted).length;
    return { share: promptCount / prompts.length, ...clopperPearson(promptCount, prompts.length) };
  };
  return {
    n: prompts.length,
    confusion: findConfusion(prompts),
    right: toShare((excess) => excess === 0),
    over: toShare((excess) => excess > 0),
    under: toShare((excess) => excess < 0),
    ways: estimateWays(prompts, options),
    categories: listCategories(prompts, options),
    orders: listOrders(prompts, options.seed).map(([name, hardnesses]) => {
      const orderedGaps = toGaps(prompts, hardnesses);
      const figures = estimate(orderedGaps, options, (sample) => ({ apgr: toGain(sample).apgr }));
      return Object.assign({ name, points: toGain(orderedGaps).points }, figures);
    }),
    advice: adviseOn(prompts, options),
  };
}

/** Right tier by row, used tier by column; null if fewer models than tiers are compared. */
function findConfusion(prompts: Prompts): number[][] | null {
  if (prompts.some(({ models }) => models !== null && models < tierNames.length)) return null;
  return tierNames.map((row) => {
    const rowPrompts = prompts.filter(({ rightTier }) => rightTier === row);
    return tierNames.map((column) => rowPrompts.filter(({ used }) => used === column).length);
  });
}

/** Returns the first ways for each category, from the file's first category on. */
function listCategories(prompts: Prompts, options: Draws) {
  const categoryGroups = Map.groupBy(prompts, ({ category }) => category);
  return [...categoryGroups].flatMap(([name, group]) =>
    name === null ? [] : { name, n: group.length, ways: estimateWays(group, options).slice(0, 3) },
  );
}

/** Returns the routing, and simpler ways for comparison. */
function estimateWays(prompts: Prompts, options: Draws) {
  const { cost } = toPoint(prompts.map(({ tiers, used }) => tiers[used]));
  const [cheap, dear] = [prompts.map((each) => each.cheap), prompts.map((each) => each.dear)];
  const frontierShare = mixAt(cost, toPoint(cheap), toPoint(dear));
  const ways: Record<string, (prompt: JudgedPrompt) => Point> = {
    "as routed": ({ tiers, used }) => tiers[used],
    "always the cheapest": (prompt) => prompt.cheap,
    "always frontier": (prompt) => prompt.dear,
    "random, at equal cost": (prompt) => ({
      quality: prompt.cheap.quality + frontierShare * computeGap(prompt),
      cost: prompt.cheap.cost + frontierShare * (prompt.dear.cost - prompt.cheap.cost),
    }),
    oracle: oraclePoint,
  };
  return Object.entries(ways).map(([name, pointAt]) => {
    const figures = estimate(prompts, options, (sample) => toPoint(sample.map(pointAt)));
    return Object.assign({ name }, figures);
  });
}

function oraclePoint({ tiers }: JudgedPrompt): Point {
  return Object.values(tiers).reduce((bestPoint, tierPoint) => {
    const isCheaper = tierPoint.quality === bestPoint.quality && tierPoint.cost < bestPoint.cost;
    return tierPoint.quality > bestPoint.quality || isCheaper ? tierPoint : bestPoint;
  });
}

/** Orders of prompts by values, the highest first. */
function listOrders(prompts: Prompts, seed: number) {
  const listedOrders: [name: string, values: readonly number[]][] = [
    ["the evaluation model", prompts.map(({ decision }) => hardness(decision))],
    ["random", []],
  ];
  const promptLengths = prompts.flatMap(({ length }) => length ?? []);
  if (promptLengths.length < prompts.length) return listedOrders;
  listedOrders.push(["prompt length", promptLengths]);
  const withoutModel = prompts.map((prompt) => ({ ...prompt, probabilities: null }));
  return [...listedOrders, ["labels alone, held out", heldOutGains(withoutModel, seed)] as const];
}

/** A labelled prompt with its decision, and the tier that the policy uses for it. */
type JudgedPrompt = ReturnType<typeof judgePrompts>[number];

/** Applies the policy. If the used tier and the right one have the same model, the used one is right. */
export function judgePrompts(
  prompts: readonly DecidedPrompt[],
  { policy, tierModels }: Pick<RouterOptions, "policy" | "tierModels">,
  costsOf: Parameters<typeof toTierPoints>[2],
) {
  return toTierPoints(prompts, tierModels, costsOf).map((tierLabel, promptIndex) => {
    const { decision } = prompts[promptIndex] as DecidedPrompt;
    const { tierUsed: used } = applyPolicy(decision.tierChosen, decision, policy);
    const { tiers, rightTier: right } = tierLabel;
    const rightTier = isDeepStrictEqual(tiers[used], tiers[right]) ? used : right;
    return Object.assign(tierLabel, { decision, used, rightTier });
  });
}

/** Returns how hard a prompt is by its decision: the mean tier of the shares. */
function hardness({ probabilities }: JudgedPrompt["decision"]): number {
  const meanTier = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * meanTier) / 1e6; // equal means of printed values differ in their last bits
}

/**
 * Returns whether to route, with the evaluated threshold, the saved share of the cost of always frontier
 * and the difference from its quality. Equal prompts count once: a copied label is no further evidence.
 */
export function adviseOn(
  allPrompts: readonly JudgedPrompt[],
  options: Draws & { readonly minConfidence: number | null },
) {
  const prompts = allPrompts.filter(({ isRepeat }) => !isRepeat);
  const noFigures = { threshold: null, saving: null, quality: null };
  const hardnesses = prompts.map(({ decision }) => hardness(decision));
  const foundDoubt = findDoubt(prompts, hardnesses, options);
  if (foundDoubt !== null) return { ...foundDoubt, ...noFigures };
  const { gain, saving, quality } = weigh(prompts, options);
  const figures = { "the gain over a random mix at equal cost": gain, "the saving": saving };
  for (const [name, gainFigure] of Object.entries(figures)) {
    const doubtful = { ...gainFigure, name, chance: 0 };
    if (gainFigure.low <= ROUNDING) return { ...toDoubt(prompts.length, doubtful), ...noFigures };
  }
  const threshold = options.minConfidence ?? 0;
  const routing = describeRouting(threshold, saving.value, quality);
  const keptPercent = Math.floor(100 * keptShare(prompts) + ROUNDING);
  const sentence = `${routing}; 95 % sure that it keeps ${keptPercent} % of frontier's.`;
  return { verdict: "route" as const, sentence, threshold, saving, quality };
}

/** Compares the routing with always frontier, and with tiers and mixes that cost no more. */
function weigh(prompts: readonly JudgedPrompt[], options: Draws) {
  return estimate(prompts, options, (sampledPrompts) => {
    const routedPoint = toPoint(sampledPrompts.map(({ tiers, used }) => tiers[used]));
    const cheap = toPoint(sampledPrompts.map((prompt) => prompt.cheap));
    const dear = toPoint(sampledPrompts.map((prompt) => prompt.dear));
    const mixQuality =
      cheap.quality + mixAt(routedPoint.cost, cheap, dear) * (dear.quality - cheap.quality);
    const affordable = tierPoints(sampledPrompts).filter(
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
  return highestShare((keptPart) => {
    const keptValues = prompts.map(
      ({ tiers, used, dear }) => tiers[used].quality - keptPart * dear.quality,
    );
    return pOfMean(keptValues, -keptPart) <= 0.05;
  });
}

/** Returns the share of the dear tier in a random mix of both ends that has a cost, or the nearest one. */
function mixAt(wantedCost: number, cheapPoint: Point, dearPoint: Point): number {
  const dearShare = (wantedCost - cheapPoint.cost) / (dearPoint.cost - cheapPoint.cost) || 0; // equal costs: 0 of 0
  return Math.min(Math.max(dearShare, 0), 1);
}

import { wilson } from "evaluator-calibration/statistics";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { adviseOn } from "./advice.ts";
import {
  cheapestOf,
  drawPrompts,
  estimate,
  gainOf,
  mixesOf,
  pointOf,
  tierPoints,
} from "./figures.ts";
import { hardness, type JudgedPrompt, type Point } from "./judged-prompts.ts";

/** Returns the figures of at least one routed prompt. */
export function evaluateRouting(
  prompts: readonly JudgedPrompt[],
  options: Parameters<typeof adviseOn>[1],
) {
  const draws = drawPrompts(prompts, options);
  const shareOf = (isSo: (excess: number) => boolean) => {
    const excesses = prompts.map(
      ({ used, rightTier }) => tierNames.indexOf(used) - tierNames.indexOf(rightTier),
    );
    const count = excesses.filter(isSo).length;
    return { share: count / prompts.length, ...wilson(count, prompts.length) };
  };
  return {
    n: prompts.length,
    /** Right tier by row, used tier by column. */
    confusion: tierNames.map((row) =>
      tierNames.map(
        (column) =>
          prompts.filter(({ used, rightTier }) => used === column && rightTier === row).length,
      ),
    ),
    right: shareOf((excess) => excess === 0),
    over: shareOf((excess) => excess > 0),
    under: shareOf((excess) => excess < 0),
    ways: waysOf(prompts).map(([name, pointAt]) => {
      const figures = estimate(prompts, draws, (drawn) => pointOf(drawn, pointAt));
      return Object.assign({ name }, figures);
    }),
    orders: ordersOf(prompts).map(([name, valueOf]) => {
      const { points } = gainOf(prompts, valueOf);
      const figures = estimate(prompts, draws, (drawn) => gainOf(drawn, valueOf).figures);
      return Object.assign({ name, points }, figures);
    }),
    advice: adviseOn(prompts, options),
  };
}

type Way = [name: string, pointAt: (prompt: JudgedPrompt) => Point];

/** The routing, and simpler ways for comparison. */
function waysOf(prompts: readonly JudgedPrompt[]): Way[] {
  const points = tierPoints(prompts);
  const { cost } = pointOf(prompts, ({ tiers, used }) => tiers[used]);
  const cheapest = tierNames[cheapestOf(points)] ?? "nano";
  const shares = tierNames.map(
    (tier) => prompts.filter(({ used }) => used === tier).length / prompts.length,
  );
  const ways: Way[] = [
    ["as routed", ({ tiers, used }) => tiers[used]],
    ["always the cheapest", ({ tiers }) => tiers[cheapest]],
    ["always frontier", ({ tiers }) => tiers.frontier],
    ["random, in the same shares", randomly(shares)],
    ["random, at equal cost", randomly(mixesOf(points)(cost).shares)],
  ];
  if (!hasLengths(prompts)) return ways;
  const byLength = tiersByLength(prompts);
  const ofLength = (prompt: JudgedPrompt) => prompt.tiers[byLength.get(prompt) ?? prompt.used];
  return [...ways, ["by length, in the same shares", ofLength]];
}

/** A prompt's mean over the tiers, weighted by their shares. */
function randomly(shares: readonly number[]) {
  return ({ tiers }: JudgedPrompt): Point => {
    const meanOf = (name: keyof Point) =>
      tierNames.reduce((sum, tier, at) => sum + (shares[at] ?? 0) * tiers[tier][name], 0);
    return { quality: meanOf("quality"), cost: meanOf("cost") };
  };
}

/** As many prompts of each tier as routed, the longest prompts with the highest tiers. */
function tiersByLength(prompts: readonly JudgedPrompt[]): ReadonlyMap<JudgedPrompt, Tier> {
  const used = tierNames.flatMap((tier) =>
    prompts.flatMap((each) => (each.used === tier ? tier : [])),
  );
  const byLength = prompts.toSorted((one, other) => (one.length ?? 0) - (other.length ?? 0));
  return new Map(byLength.map((prompt, rank) => [prompt, used[rank] ?? "nano"]));
}

/** Orders of prompts by a value, the highest first. */
function ordersOf(prompts: readonly JudgedPrompt[]) {
  const orders: [name: string, valueOf: (prompt: JudgedPrompt) => number][] = [
    ["the evaluation model", ({ decision }) => hardness(decision)],
    ["random", () => 0],
  ];
  if (hasLengths(prompts)) orders.push(["prompt length", ({ length }) => length ?? 0]);
  return orders;
}

function hasLengths(prompts: readonly JudgedPrompt[]): boolean {
  return prompts.every(({ length }) => length !== null);
}

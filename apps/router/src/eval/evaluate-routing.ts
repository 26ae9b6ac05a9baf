import { wilson } from "evaluator-calibration/statistics";
import { tierNames } from "../decision/tier-question.ts";
import { heldOutGains } from "../fit/fit-labels.ts";
import { type Draws, estimate, gainOf, mixAt, toGaps } from "../labels/figures.ts";
import { gapOf, type Point, pointOf } from "../labels/tier-points.ts";
import { adviseOn } from "./advice.ts";
import { hardness, type JudgedPrompt } from "./judged-prompts.ts";

type Prompts = readonly JudgedPrompt[];

/** Returns the figures of at least one routed prompt. */
export function evaluateRouting(prompts: Prompts, options: Parameters<typeof adviseOn>[1]) {
  const shareOf = (isSo: (excess: number) => boolean) => {
    const excesses = prompts.map(
      ({ used, rightTier }) => tierNames.indexOf(used) - tierNames.indexOf(rightTier),
    );
    const count = excesses.filter(isSo).length;
    return { share: count / prompts.length, ...wilson(count, prompts.length) };
  };
  return {
    n: prompts.length,
    confusion: confusionOf(prompts),
    right: shareOf((excess) => excess === 0),
    over: shareOf((excess) => excess > 0),
    under: shareOf((excess) => excess < 0),
    ways: estimateWays(prompts, options),
    categories: categoriesOf(prompts, options),
    orders: ordersOf(prompts, options.seed).map(([name, values]) => {
      const gaps = toGaps(prompts, values);
      const figures = estimate(gaps, options, (drawn) => ({ apgr: gainOf(drawn).apgr }));
      return Object.assign({ name, points: gainOf(gaps).points }, figures);
    }),
    advice: adviseOn(prompts, options),
  };
}

/** Right tier by row, used tier by column; null if fewer models than tiers are compared. */
function confusionOf(prompts: Prompts): number[][] | null {
  if (prompts.some(({ models }) => models !== null && models < tierNames.length)) return null;
  return tierNames.map((row) =>
    tierNames.map(
      (column) =>
        prompts.filter(({ used, rightTier }) => used === column && rightTier === row).length,
    ),
  );
}

/** Returns the first ways for each category, from the file's first category on. */
function categoriesOf(prompts: Prompts, options: Draws) {
  const groups = Map.groupBy(prompts, ({ category }) => category);
  return [...groups].flatMap(([name, group]) =>
    name === null ? [] : { name, n: group.length, ways: estimateWays(group, options).slice(0, 3) },
  );
}

function estimateWays(prompts: Prompts, options: Draws) {
  return waysOf(prompts).map(([name, pointAt]) => {
    const figures = estimate(prompts, options, (drawn) => pointOf(drawn.map(pointAt)));
    return Object.assign({ name }, figures);
  });
}

type Way = [name: string, pointAt: (prompt: JudgedPrompt) => Point];

/** The routing, and simpler ways for comparison. */
function waysOf(prompts: Prompts): Way[] {
  const { cost } = pointOf(prompts.map(({ tiers, used }) => tiers[used]));
  const [cheap, dear] = [prompts.map((each) => each.cheap), prompts.map((each) => each.dear)];
  const up = mixAt(cost, pointOf(cheap), pointOf(dear));
  const mixed = (prompt: JudgedPrompt) => ({
    quality: prompt.cheap.quality + up * gapOf(prompt),
    cost: prompt.cheap.cost + up * (prompt.dear.cost - prompt.cheap.cost),
  });
  return [
    ["as routed", ({ tiers, used }) => tiers[used]],
    ["always the cheapest", (prompt) => prompt.cheap],
    ["always frontier", (prompt) => prompt.dear],
    ["random, at equal cost", mixed],
    ["oracle", oraclePoint],
  ];
}

/** The best quality of a prompt at its lowest cost. */
function oraclePoint({ tiers }: JudgedPrompt): Point {
  return Object.values(tiers).reduce((best, point) => {
    const isCheaper = point.quality === best.quality && point.cost < best.cost;
    return point.quality > best.quality || isCheaper ? point : best;
  });
}

/** Orders of prompts by values, the highest first. */
function ordersOf(prompts: Prompts, seed: number) {
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

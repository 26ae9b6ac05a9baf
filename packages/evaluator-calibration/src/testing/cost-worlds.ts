import { seededRandom } from "../math/random.ts";
import { crossFittedCost } from "../report/action-cost.ts";
import { drawAnswer } from "./worlds.ts";

/** A judge of yes and no, and the costs of both mistakes. */
export interface CostWorld {
  readonly name: string;
  /** The mean and the spread of the log odds of yes, and how far the printed ones are above. */
  readonly odds: readonly [mean: number, spread: number, moved: number];
  readonly falseAct: number;
  readonly missedAct: number;
}

/** Worlds in which a threshold with a low cost is chosen from labels. */
export const costWorlds: readonly CostWorld[] = [
  { name: "yes in 50 %", odds: [0, 2, 0], falseAct: 5, missedAct: 1 },
  { name: "yes in 10 %", odds: [-3.5, 2, 0], falseAct: 5, missedAct: 1 },
  { name: "yes in 10 %, missed acts cost more", odds: [-3.5, 2, 0], falseAct: 1, missedAct: 5 },
  { name: "yes in 10 %, printed too high", odds: [-3.5, 2, 1.5], falseAct: 1, missedAct: 5 },
];

function drawRows({ odds: [mean, spread, moved] }: CostWorld, n: number, random: () => number) {
  const rows = Array.from({ length: n }, () => drawAnswer({ mean, spread, moved }, random));
  return {
    ids: rows.map((_, at) => `r${at}`),
    sureness: rows.map(({ p }) => p),
    wrong: rows.map(({ truth }) => Number(!truth)),
    lowest: 0.51,
  };
}

/** Returns by which share the printed cost of a record is below the cost of the threshold on many other records. */
export function playCosts(
  world: CostWorld,
  { n, rounds, others = 200_000 }: { n: number; rounds: number; others?: number },
) {
  const { sureness, wrong } = drawRows(world, others, seededRandom(1));
  const costAt = (threshold: number | null) => {
    const costs = sureness.map((value, row) => {
      const isActedOn = threshold !== null && value >= threshold;
      if (wrong[row] === 1) return isActedOn ? world.falseAct : 0;
      return isActedOn ? 0 : world.missedAct;
    });
    return costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
  };
  const knownCosts = new Map<number | null, number>();
  let [printed, actual] = [0, 0];
  for (let seed = 2; seed < rounds + 2; seed += 1) {
    const { threshold, cost } = crossFittedCost(drawRows(world, n, seededRandom(seed)), world);
    const known = knownCosts.get(threshold) ?? costAt(threshold);
    knownCosts.set(threshold, known);
    printed += cost;
    actual += known;
  }
  return { below: 1 - printed / actual, mean: actual / rounds };
}

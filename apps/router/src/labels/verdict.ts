import type { Estimate } from "evaluator-calibration/reports";
import { twoSidedP } from "evaluator-calibration/statistics";
import { type Draws, estimate, figure, toGain, points, ROUNDING, toGaps } from "./figures.ts";
import { type LabelledPrompt, toPoint, tierPoints } from "./tier-points.ts";

/** The fewest different prompts for an advice. */
const LEAST_LABELS = 40;

/** The APGR of random decisions. */
const CHANCE = 0.5;

/** Why the labels do not show that routing helps. */
interface Doubt {
  readonly verdict: "cheapest-is-best" | "cannot-tell";
  readonly sentence: string;
}

/**
 * Returns why not to route different prompts, the highest values to the dear tier; null if the order is
 * better than chance. If few prompts have a gap, the interval is too narrow, but not the test.
 */
export function findDoubt(
  prompts: readonly LabelledPrompt[],
  orderValues: readonly number[],
  options: Draws,
): Doubt | null {
  const promptCount = prompts.length;
  if (promptCount < LEAST_LABELS) {
    const sentence = `These labels are inconclusive: too few different labelled prompts (${promptCount}). ${LEAST_LABELS} labels may suffice.`;
    return { verdict: "cannot-tell", sentence };
  }
  const bestQuality = Math.max(...tierPoints(prompts).map(({ quality }) => quality));
  if (bestQuality <= toPoint(prompts.map(({ cheap }) => cheap)).quality + ROUNDING) {
    const sentence = "The cheapest model is your best: do not route.";
    return { verdict: "cheapest-is-best", sentence };
  }
  const orderedGaps = toGaps(prompts, orderValues);
  const { apgr } = estimate(orderedGaps, options, (sample) => ({ apgr: toGain(sample).apgr }));
  if (apgr !== null && apgr.low > CHANCE && pOfOrder(orderedGaps) <= 0.025) return null;
  const noApgr = { value: CHANCE, low: CHANCE, high: CHANCE }; // a middle tier is the best
  return toDoubt(promptCount, { ...(apgr ?? noApgr), name: "APGR", chance: CHANCE });
}

/** Returns the p-value of an order: above chance, the gaps of higher ranks are larger. */
function pOfOrder(orderedGaps: ReturnType<typeof toGaps>): number {
  const valueGroups = [...Map.groupBy(orderedGaps, ({ value }) => value)];
  let rankBelow = -orderedGaps.length / 2;
  const gainedValues = valueGroups
    .toSorted(([firstValue], [secondValue]) => firstValue - secondValue)
    .flatMap(([, gapGroup]) => {
      const groupRank = rankBelow + gapGroup.length / 2;
      rankBelow += gapGroup.length;
      return gapGroup.map(({ gap }) => (groupRank * gap) / orderedGaps.length);
    });
  return pOfMean(gainedValues, -CHANCE);
}

/** The smallest gain that is worth more labels. Chosen. */
const LEAST_GAIN = 0.02;

/** Returns the doubt about a figure that `n` labels do not separate from chance. */
export function toDoubt(n: number, doubtful: Estimate & { name: string; chance: number }): Doubt {
  const assumedGain = Math.max(doubtful.value - doubtful.chance, LEAST_GAIN);
  const neededLabels = n * Math.max(2, ((doubtful.high - doubtful.low) / 2 / assumedGain) ** 2);
  const labelsText = (10 * Math.ceil(neededLabels / 10)).toLocaleString("en");
  const chanceText = `${doubtful.name} is ${figure(doubtful)}; without decisions it is ${doubtful.chance}`;
  const sentence = `These labels are inconclusive: ${chanceText}. About ${labelsText} labels may suffice.`;
  return { verdict: "cannot-tell", sentence };
}

/** Describes a routing beside always frontier. */
export function describeRouting(threshold: number, saving: number, quality: Estimate): string {
  const halfWidth = points((quality.high - quality.low) / 2, "ceil");
  const savingPercent = Math.floor(100 * saving + ROUNDING);
  return `With ${Number(threshold.toPrecision(2))}: ${savingPercent} % cheaper, quality ${points(quality.value, "halfExpand")} ± ${halfWidth} points`;
}

/** Worlds of two values that pass at 2.5 % although their mean is 0: with none 16 %, one 4.8 %, two 2.4 %. */
const WORST_VALUES = 2;

/**
 * Returns the probability of so high a mean if the true one were 0 or lower: a t-test that also counts
 * the worst possible value, twice. Without it, a rare loss that no row shows would not count.
 */
export function pOfMean(sampleValues: readonly number[], worstValue: number): number {
  const allValues = [...sampleValues, ...Array.from({ length: WORST_VALUES }, () => worstValue)];
  const degreesOfFreedom = allValues.length - 1;
  const sampleMean = allValues.reduce((total, number) => total + number, 0) / allValues.length;
  const squareSum = allValues.reduce((total, number) => total + (number - sampleMean) ** 2, 0);
  if (!(sampleMean > 0)) return 1;
  const t = sampleMean / Math.sqrt(squareSum / degreesOfFreedom / allValues.length);
  // The normal value of about the same probability.
  const z = (t * (1 - 1 / (4 * degreesOfFreedom))) / Math.sqrt(1 + t ** 2 / (2 * degreesOfFreedom));
  return twoSidedP(z) / 2;
}

/** Returns the highest of 100 % to 1 % that passes, as a share; 0 if none does. */
export function highestShare(passes: (testedShare: number) => boolean): number {
  return Array.from({ length: 100 }, (_, shareIndex) => (100 - shareIndex) / 100).find(passes) ?? 0;
}

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
  values: readonly number[],
  options: Draws,
): Doubt | null {
  const n = prompts.length;
  if (n < LEAST_LABELS) {
    const sentence = `These labels are inconclusive: too few different labelled prompts (${n}). ${LEAST_LABELS} labels may suffice.`;
    return { verdict: "cannot-tell", sentence };
  }
  const best = Math.max(...tierPoints(prompts).map(({ quality }) => quality));
  if (best <= toPoint(prompts.map(({ cheap }) => cheap)).quality + ROUNDING) {
    const sentence = "The cheapest model is your best: do not route.";
    return { verdict: "cheapest-is-best", sentence };
  }
  const gaps = toGaps(prompts, values);
  const { apgr } = estimate(gaps, options, (sample) => ({ apgr: toGain(sample).apgr }));
  if (apgr !== null && apgr.low > CHANCE && pOfOrder(gaps) <= 0.025) return null;
  const none = { value: CHANCE, low: CHANCE, high: CHANCE }; // a middle tier is the best
  return toDoubt(n, { ...(apgr ?? none), name: "APGR", chance: CHANCE });
}

/** Returns the p-value of an order: above chance, the gaps of higher ranks are larger. */
function pOfOrder(rows: ReturnType<typeof toGaps>): number {
  const groups = [...Map.groupBy(rows, ({ value }) => value)];
  let below = -rows.length / 2;
  const gainedValues = groups
    .toSorted(([one], [other]) => one - other)
    .flatMap(([, group]) => {
      const rank = below + group.length / 2;
      below += group.length;
      return group.map(({ gap }) => (rank * gap) / rows.length);
    });
  return pOfMean(gainedValues, -CHANCE);
}

/** The smallest gain that is worth more labels. Chosen. */
const LEAST_GAIN = 0.02;

/** Returns the doubt about a figure that `n` labels do not separate from chance. */
export function toDoubt(n: number, of: Estimate & { name: string; chance: number }): Doubt {
  const gain = Math.max(of.value - of.chance, LEAST_GAIN);
  const neededLabels = n * Math.max(2, ((of.high - of.low) / 2 / gain) ** 2);
  const labels = (10 * Math.ceil(neededLabels / 10)).toLocaleString("en");
  const chance = `${of.name} is ${figure(of)}; without decisions it is ${of.chance}`;
  const sentence = `These labels are inconclusive: ${chance}. About ${labels} labels may suffice.`;
  return { verdict: "cannot-tell", sentence };
}

/** Describes a routing beside always frontier. */
export function describeRouting(threshold: number, saving: number, quality: Estimate): string {
  const half = points((quality.high - quality.low) / 2, "ceil");
  const percent = Math.floor(100 * saving + ROUNDING);
  return `With ${Number(threshold.toPrecision(2))}: ${percent} % cheaper, quality ${points(quality.value, "halfExpand")} ± ${half} points`;
}

/** Worlds of two values that pass at 2.5 % although their mean is 0: with none 16 %, one 4.8 %, two 2.4 %. */
const WORST_VALUES = 2;

/**
 * Returns the probability of so high a mean if the true one were 0 or lower: a t-test that also counts
 * the worst possible value, twice. Without it, a rare loss that no row shows would not count.
 */
export function pOfMean(values: readonly number[], worst: number): number {
  const all = [...values, ...Array.from({ length: WORST_VALUES }, () => worst)];
  const freedom = all.length - 1;
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  const squares = all.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (!(mean > 0)) return 1;
  const t = mean / Math.sqrt(squares / freedom / all.length);
  // The normal value of about the same probability.
  const z = (t * (1 - 1 / (4 * freedom))) / Math.sqrt(1 + t ** 2 / (2 * freedom));
  return twoSidedP(z) / 2;
}

/** Returns the highest of 100 % to 1 % that passes, as a share; 0 if none does. */
export function highestShare(passes: (share: number) => boolean): number {
  return Array.from({ length: 100 }, (_, at) => (100 - at) / 100).find(passes) ?? 0;
}

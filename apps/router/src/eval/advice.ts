import { type Draws, estimate, mixAt, ROUNDING } from "../labels/figures.ts";
import { highestShare, pOfMean } from "../labels/mean-test.ts";
import { pointOf, tierPoints } from "../labels/tier-points.ts";
import { describeRouting, doubtOf, findDoubt } from "../labels/verdict.ts";
import { hardness, type JudgedPrompt } from "./judged-prompts.ts";

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
  const doubt = findDoubt(
    prompts,
    prompts.map(({ decision }) => hardness(decision)),
    options,
  );
  if (doubt !== null) return { ...doubt, ...nothing };
  const { gain, saving, quality } = weigh(prompts, options);
  const figures = { "the gain over a random mix at equal cost": gain, "the saving": saving };
  for (const [name, figure] of Object.entries(figures)) {
    const of = { ...figure, name, chance: 0 };
    if (figure.low <= ROUNDING) return { ...doubtOf(prompts.length, of), ...nothing };
  }
  const threshold = options.minConfidence ?? 0;
  const routing = describeRouting(threshold, saving.value, quality);
  const kept = Math.round(100 * keptShare(prompts));
  const sentence = `${routing}; 95 % sure that it keeps ${kept} % of frontier's.`;
  return { verdict: "route" as const, sentence, threshold, saving, quality };
}

/** Compares the routing with always frontier, and with tiers and mixes that cost no more. */
function weigh(prompts: readonly JudgedPrompt[], options: Draws) {
  return estimate(prompts, options, (drawn) => {
    const routed = pointOf(drawn.map(({ tiers, used }) => tiers[used]));
    const cheap = pointOf(drawn.map((prompt) => prompt.cheap));
    const dear = pointOf(drawn.map((prompt) => prompt.dear));
    const mixed = cheap.quality + mixAt(routed.cost, cheap, dear) * (dear.quality - cheap.quality);
    const affordable = tierPoints(drawn).filter(({ cost }) => cost <= routed.cost * (1 + ROUNDING));
    return {
      gain: routed.quality - Math.max(mixed, ...affordable.map(({ quality }) => quality)),
      saving: (dear.cost - routed.cost) / Math.max(dear.cost, routed.cost) || 0, // 0 of 0
      quality: routed.quality - dear.quality,
    };
  });
}

/** Returns the share of frontier's quality that is kept with 95 % confidence. */
function keptShare(prompts: readonly JudgedPrompt[]): number {
  return highestShare((share) => {
    const kept = prompts.map(({ tiers, used, dear }) => tiers[used].quality - share * dear.quality);
    return pOfMean(kept, -share) <= 0.05;
  });
}

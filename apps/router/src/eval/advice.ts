import type { Estimate } from "evaluator-calibration";
import { seededRandom } from "evaluator-kit";
import { tierNames } from "../decision/tier-question.ts";
import {
  cheapestOf,
  drawPrompts,
  estimate,
  figure,
  gainOf,
  mixesOf,
  percent,
  pointOf,
  tierPoints,
} from "./figures.ts";
import { hardness, type JudgedPrompt, type Point } from "./judged-prompts.ts";

/** The evaluated ROUTER_MIN_CONFIDENCE, and the draws for the intervals. */
type AdviceOptions = Readonly<Record<"seed" | "draws", number> & { minConfidence: number | null }>;

/** The fewest different prompts for an advice. */
const LEAST_LABELS = 40;

const TRIALS = 1000;

/** Sums of the same terms in different orders differ by less. */
const ROUNDING = 1e-9;

/** The APGR of random decisions. */
const CHANCE = 0.5;

/**
 * Returns whether to route, with the evaluated threshold, the saved share of the cost of always frontier
 * and the difference from its quality. Equal prompts count once: a copied label is no further evidence.
 */
export function adviseOn(all: readonly JudgedPrompt[], options: AdviceOptions) {
  const nothing = { threshold: null, saving: null, quality: null };
  const prompts = all.filter(({ isRepeat }) => !isRepeat);
  const n = prompts.length;
  if (n < LEAST_LABELS) {
    const sentence = `Cannot tell: ${n} different labelled prompts are too few. Label at least ${LEAST_LABELS}.`;
    return { verdict: "cannot-tell", sentence, ...nothing };
  }
  const evidence = weigh(prompts, options);
  const { gain, apgr, saving, quality, luck } = evidence;
  const gains = gain.low > ROUNDING && luck <= 0.025;
  if (!gains && isCheapestBest(prompts)) {
    const sentence = "The cheapest model is your best: do not route.";
    return { verdict: "cheapest-is-best", sentence, ...nothing };
  }
  const isBetter = gains && (apgr === null || apgr.low > CHANCE);
  if (!isBetter || saving.low < 0) {
    return { verdict: "cannot-tell", sentence: describeDoubt(evidence, n), ...nothing };
  }
  return {
    verdict: "route",
    sentence: describeGain(evidence),
    threshold: options.minConfidence,
    saving,
    quality,
  };
}

/** Whether no tier has a higher mean than the cheapest. Tiers that complement each other may still gain. */
function isCheapestBest(prompts: readonly JudgedPrompt[]): boolean {
  const tiers = tierPoints(prompts);
  const best = Math.max(...tiers.map(({ quality }) => quality));
  return best <= (tiers[cheapestOf(tiers)]?.quality ?? 0) + ROUNDING;
}

type Evidence = ReturnType<typeof weigh>;

/**
 * Compares the routing with always frontier, and with the best mix without decisions at the same cost.
 *
 * The intervals are percentiles of draws with replacement, which assume nothing about scores and
 * costs. If few prompts distinguish the tiers, they are too narrow: in simulated sets with random
 * decisions, the gain's excluded 0 in up to 43 %. So the decisions are also shuffled over the
 * prompts, a test that is exact for any number of prompts.
 */
function weigh(prompts: readonly JudgedPrompt[], options: AdviceOptions) {
  const figures = estimate(prompts, drawPrompts(prompts, options), (drawn) => {
    const [routed, frontier, nano] = [
      pointOf(drawn, ({ tiers, used }) => tiers[used]),
      pointOf(drawn, ({ tiers }) => tiers.frontier),
      pointOf(drawn, ({ tiers }) => tiers.nano),
    ];
    const hasGap = frontier.quality - nano.quality > ROUNDING;
    return {
      gain: routed.quality - rivalsOf(tierPoints(drawn))(routed.cost).quality,
      apgr: hasGap ? gainOf(drawn, ({ decision }) => hardness(decision)).figures.apgr : null,
      saving: (frontier.cost - routed.cost) / Math.max(frontier.cost, routed.cost) || 0, // 0 of 0
      quality: routed.quality - frontier.quality,
    };
  });
  const rivalAt = rivalsOf(tierPoints(prompts));
  const used = prompts.map((prompt) => prompt.used);
  const random = seededRandom(options.seed);
  let asMuch = 1; // the unshuffled decisions
  for (let trial = 1; trial < TRIALS; trial += 1) {
    shuffle(used, random);
    const { quality, cost } = pointOf(prompts, (each, at) => each.tiers[used[at] ?? each.used]);
    if (quality - rivalAt(cost).quality >= figures.gain.value - ROUNDING) asMuch += 1;
  }
  const { cost } = pointOf(prompts, (each) => each.tiers[each.used]);
  return { ...figures, luck: asMuch / TRIALS, rival: nameOf(rivalAt(cost)) };
}

/** Prepares the rivals of a routing; returns the best mix, or single tier, that costs no more. */
function rivalsOf(tiers: readonly Point[]) {
  const mixAt = mixesOf(tiers);
  const singles = tiers.map(({ cost }) => ({ cost, mix: mixAt(cost) }));
  return (cost: number) => {
    const affordable = singles.filter((tier) => tier.cost <= cost * (1 + ROUNDING));
    return [...affordable.map(({ mix }) => mix), mixAt(cost)].reduce((best, mix) =>
      mix.quality > best.quality ? mix : best,
    );
  };
}

function shuffle<TValue>(values: TValue[], random: () => number): void {
  for (let at = values.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [values[at], values[other]] = [values[other] as TValue, values[at] as TValue];
  }
}

function nameOf({ shares }: { readonly shares: readonly number[] }): string {
  const only = tierNames[shares.indexOf(1)];
  return only === undefined
    ? "a random mix of the tiers at equal cost"
    : `always ${only}, which costs no more`;
}

function describeGain({ gain, saving, quality, rival }: Evidence): string {
  const share = percent({ ...saving, share: saving.value });
  const frontier = `it is ${share} cheaper and its quality differs by ${points(quality)}`;
  return `Routing gains ${points(gain)} of quality over ${rival}. Beside always frontier ${frontier}, for prompts like these.`;
}

/** Returns a difference of two qualities in hundredths, with its interval. */
function points({ value, low, high }: Estimate): string {
  const [at, from, to] = [value, low, high].map((quality) => Math.round(1000 * quality) / 10 + 0); // no -0
  return `${at} points (${from} to ${to})`;
}

/** The smallest gain in quality that is worth more labels. Chosen. */
const LEAST_GAIN = 0.02;

function describeDoubt({ gain, apgr, luck, rival }: Evidence, n: number): string {
  const half = (gain.high - gain.low) / 2 / Math.max(gain.value, LEAST_GAIN);
  const labels = 10 * Math.ceil((n * Math.max(2, half ** 2)) / 10);
  const showsNone =
    Math.min(gain.value, gain.high) <= ROUNDING ||
    (apgr !== null && apgr.value <= CHANCE + ROUNDING);
  const next = showsNone
    ? "Do not route as set up."
    : `About ${labels.toLocaleString("en")} labels may suffice.`;
  const order =
    apgr === null
      ? "There is no APGR, since frontier is no better than nano."
      : `APGR is ${figure(apgr)}; chance has ${CHANCE}.`;
  const trials = `its decisions in random order gain as much in ${(100 * luck).toFixed(1)}% of trials`;
  return `Cannot tell whether routing helps: it gains ${points(gain)} of quality over ${rival}; ${trials}. ${order} ${next}`;
}

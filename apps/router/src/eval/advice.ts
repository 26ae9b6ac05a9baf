import type { Estimate } from "evaluator-calibration";
import type { ChoicePolicy } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import {
  cheapestOf,
  type Counts,
  createDraws,
  estimate,
  figure,
  gainOf,
  orderBy,
  percent,
  pointOf,
  points,
  rivalOf,
  ROUNDING,
  shuffles,
  tierPoints,
} from "./figures.ts";
import { hardness, type JudgedPrompt, tierOf } from "./prompts.ts";

/** The policy to evaluate, and the draws for the intervals. */
export interface FigureOptions {
  readonly policy: ChoicePolicy;
  readonly seed: number;
  readonly draws: number;
}

/** The advice that the labels allow; the figures are null unless the verdict is `route`. */
interface Advice {
  readonly verdict: "cheapest-is-best" | "cannot-tell" | "route";
  readonly sentence: string;
  /** The ROUTER_MIN_CONFIDENCE that was evaluated; null if it is off. */
  readonly threshold: number | null;
  /** The saved share of the cost of always frontier. */
  readonly saving: Estimate | null;
  /** The mean quality less that of always frontier. */
  readonly quality: Estimate | null;
}

/** The fewest different prompts for an advice. */
const LEAST_LABELS = 40;

/** Number of shuffles of the decisions. */
const TRIALS = 1000;

/** The APGR of random decisions. */
const CHANCE = 0.5;

/** Returns whether to route. Equal prompts count once, because a copied label is no further evidence. */
export function adviseOn(all: readonly JudgedPrompt[], options: FigureOptions): Advice {
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
  const threshold = options.policy.minConfidence;
  return { verdict: "route", sentence: describeGain(evidence), threshold, saving, quality };
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
 * costs. If few prompts tell the tiers apart, they are too narrow: in simulated sets with random
 * decisions, the gain's excluded 0 in up to 43 %. So the decisions are also shuffled over the
 * prompts, a test that is exact for any number of prompts.
 */
function weigh(prompts: readonly JudgedPrompt[], { policy, seed, draws }: FigureOptions) {
  const used = prompts.map(({ decision }) => tierOf(decision, policy));
  const order = orderBy(prompts.map(({ decision }) => hardness(decision)));
  const compare = (counts?: Counts) => {
    const tiers = tierPoints(prompts, counts);
    const routed = pointOf(prompts, (at) => used[at] ?? 0, counts);
    const { quality, cost } = tiers.at(-1) ?? routed;
    const rival = rivalOf(tiers, routed.cost);
    const hasGap = quality - (tiers[0] ?? routed).quality > ROUNDING;
    return {
      rival,
      gain: routed.quality - rival.quality,
      apgr: hasGap ? gainOf(prompts, order, counts).apgr : null,
      saving: (cost - routed.cost) / Math.max(cost, routed.cost) || 0, // 0 of 0
      quality: routed.quality - quality,
    };
  };
  const whole = compare();
  const drawn = createDraws(prompts.length, { seed, draws }).each(compare);
  const of = (name: "gain" | "saving" | "quality") =>
    estimate(
      whole[name],
      drawn.map((each) => each[name]),
    );
  const apgrs = drawn.flatMap(({ apgr }) => apgr ?? []); // a draw without a gap has none
  const tiers = tierPoints(prompts);
  let asMuch = 1; // the unshuffled decisions
  for (const shuffled of shuffles(used, { seed, orders: TRIALS - 1 })) {
    const { quality, cost } = pointOf(prompts, (at) => shuffled[at] ?? 0);
    if (quality - rivalOf(tiers, cost).quality >= whole.gain - ROUNDING) asMuch += 1;
  }
  return {
    gain: of("gain"),
    apgr: whole.apgr === null ? null : estimate(whole.apgr, apgrs),
    saving: of("saving"),
    quality: of("quality"),
    luck: asMuch / TRIALS,
    rival: nameOf(whole.rival),
  };
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

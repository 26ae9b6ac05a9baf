import { questionHash } from "evaluator-calibration";
import { choice } from "evaluator-client";

/** The tier question, quoted from the contract (section 4.6, rule 2). */
export const tierQuestions = {
  tier: choice("Which model tier is the cheapest one that can answer the message well?", {
    nano: "greeting, small talk, one-line fact, trivial request",
    fast: "simple question or short task with a clear answer, no deep reasoning",
    balanced: "needs real reasoning, planning, careful explanation, or writing code",
    frontier:
      "large multi-step or high-stakes work where a wrong answer is costly (a complete system, hard math, a long document)",
  }),
};

/** The hash of the tier question, for calibrations and the decision log. */
export const tierQuestionHash: string = questionHash(tierQuestions);

/** A model tier, from the cheapest to the most expensive. */
export type Tier = keyof typeof tierQuestions.tier.criteria;

/** Probability of each tier, 0..1. */
export type Shares = Readonly<Record<Tier, number>>;

/** The tiers, from the cheapest to the most expensive. */
export const tierNames = Object.keys(tierQuestions.tier.criteria) as readonly Tier[];

/** The tier of requests that need no decision. */
export const cheapestTier = "nano" satisfies Tier;

import type { Tier } from "../tier-question.ts";

/** What a decision must look like. */
export interface Expectation {
  /** The tier chosen. */
  readonly tier?: Tier;
  /** A tier that has a share, and a smaller one than the tier chosen. */
  readonly minority?: Tier;
  /** The two tiers with the largest shares, in any order. */
  readonly topTwo?: readonly [Tier, Tier];
}

/** One prompt of the self-check. */
export interface SelfCheckPrompt {
  /** What kind of request it is. */
  readonly kind: string;
  readonly message: string;
  readonly expected: Expectation;
}

/** The three prompts and what is expected of each (contract section 4.6, rule 7). */
export const selfCheckPrompts: readonly SelfCheckPrompt[] = [
  { kind: "a bare greeting", message: "hi", expected: { tier: "nano" } },
  {
    kind: "a request to write code",
    message:
      "Write a TypeScript function that merges overlapping date ranges, and explain how it works.",
    expected: { tier: "balanced", minority: "frontier" },
  },
  {
    kind: "a request for perfect complete code",
    message:
      "Write the perfect, complete code of a booking system for a small hotel, with payments and tests. It must have no bugs.",
    expected: { topTwo: ["balanced", "frontier"] },
  },
];

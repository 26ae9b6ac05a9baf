import type { Tier } from "../decision/tier-question.ts";

/** A named key: who may ask for what, until when. */
export interface RouterKey {
  readonly name: string;
  /** The budget that its calls spend, which other keys may share. */
  readonly budget: string;
  /** The tiers and models that it may use; null for all. */
  readonly tiers: readonly Tier[] | null;
  readonly models: readonly string[] | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** The limits of its budget in US dollars; null for none. Days and months are UTC. */
  readonly usdPerDay: number | null;
  readonly usdPerMonth: number | null;
  /** The first instant at which it is not valid any more, in ISO 8601; null for never. */
  readonly expires: string | null;
}

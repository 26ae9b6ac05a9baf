import type { Tier } from "../tier-question.ts";

/** When the router does something else than the evaluation model chose; by default, never. */
export interface RoutingPolicy {
  /** Below this confidence, 0..1, the next tier up is taken; null for never. */
  readonly minConfidence: number | null;
  /** The tier taken when the evaluation fails; null to answer with its error. */
  readonly failureTier: Tier | null;
  /** Time for the decision, retries included, in milliseconds; null for the client's own limit. */
  readonly decisionMs: number | null;
  /** The text model asked when the tier's model is refused; null for none. */
  readonly fallbackModel: string | null;
}

/** The model's choice stands, and every failure is told. */
export const defaultPolicy: RoutingPolicy = {
  minConfidence: null,
  failureTier: null,
  decisionMs: null,
  fallbackModel: null,
};

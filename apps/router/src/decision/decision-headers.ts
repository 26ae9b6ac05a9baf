import type { Decision } from "./decision.ts";

/** A decision as the `x-router-*` headers that every door carries. */
export function decisionHeaders(decision: Decision): Record<string, string> {
  return {
    "x-router-tier": decision.tierUsed,
    "x-router-tier-chosen": decision.tierChosen ?? "none",
    "x-router-model": decision.model,
    "x-router-cause": decision.cause,
    "x-router-decision-ms": String(decision.jevMs),
  };
}

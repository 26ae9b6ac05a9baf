import type { GatewayModelId } from "ai";
import type { Tier } from "../tier-question.ts";

/**
 * The gateway's text model for each tier, unless the environment names another. Their input prices
 * go from $0.05 to $10 per million tokens: 200 to 1 (contract section 4.6, rule 8).
 */
export const defaultTierModels = {
  nano: "openai/gpt-5-nano",
  fast: "google/gemini-3.1-flash-lite",
  balanced: "anthropic/claude-sonnet-5.5",
  frontier: "anthropic/claude-fable-5.1",
} as const satisfies Record<Tier, GatewayModelId>;

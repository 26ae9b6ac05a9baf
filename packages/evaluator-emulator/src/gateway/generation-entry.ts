import { picodollarsPerDollar } from "../catalog/price.ts";
import type { Generation } from "./generation-log.ts";

/** A call as `GET /v1/generation` shows it; costs are numbers in US dollars (field fact). */
export function generationEntry(generation: Generation) {
  const durationMs = generation.endTime - generation.startTime;
  return {
    id: generation.id,
    total_cost: 0,
    market_cost: generation.marketCost / picodollarsPerDollar,
    surcharge_cost: 0,
    gateway_cost: 0,
    upstream_inference_cost: 0,
    usage: 0,
    created_at: new Date(generation.startTime).toISOString(),
    model: generation.model,
    is_byok: false,
    provider_name: generation.provider,
    streamed: generation.isStreamed,
    finish_reason: "stop",
    latency: durationMs,
    generation_time: durationMs,
    native_tokens_prompt: generation.inputTokens,
    native_tokens_completion: generation.outputTokens,
    native_tokens_reasoning: 0,
    native_tokens_cached: 0,
    native_tokens_cache_creation: 0,
    billable_web_search_calls: 0,
  };
}

import { type Picodollars, picodollarsPerDollar } from "./catalog/price.ts";

/** One answered call. */
interface Generation {
  /** `gen_…` */
  readonly id: string;
  readonly model: string;
  readonly provider: string;
  readonly marketCost: Picodollars;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly isStreamed: boolean;
  /** Epoch milliseconds. */
  readonly startTime: number;
  /** Epoch milliseconds. */
  readonly endTime: number;
}

/** The latest answered calls by id. */
export type GenerationLog = ReturnType<typeof createGenerationLog>;

/**
 * Makes an empty log of calls.
 *
 * @param capacity - How many calls are kept; the oldest is forgotten first.
 */
export function createGenerationLog(capacity = 1000) {
  let generations = new Map<string, Generation>();
  // One iterator for all: each new one would pass every gap that a forgotten call has left.
  let oldestFirst = generations.keys();
  return {
    add(generation: Generation) {
      generations.set(generation.id, generation);
      if (generations.size > capacity) generations.delete(oldestFirst.next().value ?? "");
    },
    find: (id: string) => generations.get(id) ?? null,
    reset() {
      generations = new Map();
      oldestFirst = generations.keys();
    },
  };
}

/**
 * Returns a call as `GET /v1/generation` shows it; costs are numbers in US dollars (field fact).
 */
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

/** Where a call was to go. */
interface Route {
  /** What the caller asked for. */
  readonly modelId: string;
  /** What answers in its name. */
  readonly canonicalSlug: string;
  readonly provider: string;
}

/** A call that was answered, in epoch milliseconds. */
interface AnsweredRoute extends Route {
  readonly startTime: number;
  readonly endTime: number;
}

/** Returns the routing block of an answered call (contract section 2.5). */
export function answeredRouting({ startTime, endTime, ...route }: AnsweredRoute) {
  const { provider } = route;
  const outcome = { success: true, startTime, endTime, statusCode: 200 };
  const attempts = [{ provider, credentialType: "system", ...outcome }];
  return { ...routing(route, attempts), finalProvider: provider };
}

/**
 * Returns the routing block of a call rejected before any provider was tried (contract section 7).
 */
export function rejectedRouting(route: Route) {
  return routing(route, []);
}

function routing({ modelId, canonicalSlug, provider }: Route, providerAttempts: readonly object[]) {
  const providerAttemptCount = providerAttempts.length;
  const success = providerAttemptCount > 0;
  return {
    originalModelId: modelId,
    resolvedProvider: provider,
    fallbacksAvailable: [],
    planningReasoning: "The local emulator answers by itself; no provider is called.",
    canonicalSlug,
    modelAttemptCount: 1,
    modelAttempts: [{ canonicalSlug, success, providerAttemptCount, providerAttempts }],
    totalProviderAttemptCount: providerAttemptCount,
  };
}

import type { Picodollars } from "../catalog/price.ts";

/** One answered call. */
export interface Generation {
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
export interface GenerationLog {
  add(generation: Generation): void;
  find(id: string): Generation | null;
  reset(): void;
}

/** @param capacity - How many calls are kept; the oldest is forgotten first. */
export function createGenerationLog(capacity = 1000): GenerationLog {
  const generations = new Map<string, Generation>();
  return {
    add(generation) {
      generations.set(generation.id, generation);
      const [oldest] = generations.keys();
      if (generations.size > capacity && oldest !== undefined) generations.delete(oldest);
    },
    find: (id) => generations.get(id) ?? null,
    reset: () => generations.clear(),
  };
}

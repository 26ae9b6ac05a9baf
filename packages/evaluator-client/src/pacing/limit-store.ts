import { type Clock, type EvaluatorRuntime, readRuntime } from "../clock.ts";
import type { RateLimits } from "./rate-limits.ts";

/** What one process asks of a limit that it shares. */
export interface LeaseRequest {
  /** What the limit is of, as given to `sharedPacer`; a store that writes it down writes a hash. */
  readonly key: string;
  /** Who asks: a process has the same name as long as it runs. */
  readonly member: string;
  /** How many requests it wants to send, at least 1. */
  readonly requests: number;
  /** How many input tokens they have together. */
  readonly tokens: number;
  /** What all members together may use. */
  readonly limits: RateLimits;
}

/** Leave to send some requests, each at an instant of its own. */
export interface Lease {
  /** How long until the first of them, in milliseconds, pauses included. */
  readonly waitMs: number;
  /** How long from one to the next, in milliseconds. */
  readonly gapMs: number;
  /** How many members asked lately, the asker included. */
  readonly members: number;
  /** How long nobody may send, in milliseconds; 0 while there is no pause. */
  readonly pausedMs: number;
}

/**
 * Where processes agree on a limit; one round trip each. A store holds, for each key, the next free
 * instant for requests and for tokens, and reserves the instants after it. {@link memoryLimits} is
 * the pattern for others.
 */
export interface LimitStore {
  /** Reserves the next free instants for some requests. */
  lease(ask: LeaseRequest): Promise<Lease>;
  /**
   * Keeps everyone from sending for a while, and lowers the rate: to 0.8 times at most once a second,
   * climbing back by 1 % of the limit a second.
   */
  pause(key: string, ms: number): Promise<void>;
  /** Calls the listener whenever a key is paused; the returned function ends that. */
  onPause(key: string, listener: (ms: number) => void): () => void;
}

// Chosen, and varied in processes-simulation.test.ts where four were given too high a limit: 8.5 % are
// throttled and all of it is used. With 0.4 it is 3.4 % and 85 %, with 0.9 10.9 %.
const DECREASE = 0.8;
// One pause a second is news, and others are its echo. Half and twice come out the same.
const BETWEEN_DECREASES_MS = 1000;
// Chosen: a rate that was lowered in vain is back after 20 seconds. At half 6.3 % are throttled and
// 99 % used, at twice 9.2 % and all.
const CLIMB_PER_MS = 0.01 / 1000;
// Tokens may be up to a second ahead of their rate, as in a bucket of one second's worth.
const TOKENS_AHEAD_MS = 1000;
// Chosen: a hundred leases long. Half and twice come out the same, as nobody leaves there.
const MEMBER_FOR_MS = 10_000;

/**
 * Makes a store for the evaluators of one process; worker threads share one in a database.
 *
 * @example
 * ```ts
 * const pacer = sharedPacer({ store: memoryLimits(), key: "team-a", limits: { requestsPerMinute: 1200 } });
 * ```
 */
export function memoryLimits(runtime: Pick<EvaluatorRuntime, "clock"> = {}): LimitStore {
  const { clock } = readRuntime(runtime);
  const limits = new Map<string, SharedLimit>();
  const limitOf = (key: string) => {
    const limit = limits.get(key) ?? new SharedLimit(clock);
    limits.set(key, limit);
    return limit;
  };
  return {
    lease: async (ask) => limitOf(ask.key).lease(ask),
    pause: async (key, ms) => limitOf(key).pause(ms),
    onPause(key, listener) {
      const { listeners } = limitOf(key);
      const own = (ms: number) => listener(ms);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/** One limit, and up to when it is reserved. */
class SharedLimit {
  readonly listeners = new Set<(ms: number) => void>();
  readonly #clock: Clock;
  readonly #askedAtMs = new Map<string, number>();
  #requestsFreeAtMs = Number.NEGATIVE_INFINITY;
  #tokensFreeAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #lowered = { share: 1, atMs: Number.NEGATIVE_INFINITY };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  lease({ member, requests, tokens, limits }: LeaseRequest): Lease {
    const nowMs = this.#clock.now();
    const { requestsPerMinute = Infinity, tokensPerSecond = Infinity } = limits;
    const share = this.#share(nowMs);
    const gapMs = 60_000 / (requestsPerMinute * share);
    const startMs = Math.max(
      nowMs,
      this.#pausedUntilMs,
      this.#requestsFreeAtMs,
      this.#tokensFreeAtMs - TOKENS_AHEAD_MS,
    );
    const tokensMs = (tokens * 1000) / (tokensPerSecond * share);
    this.#requestsFreeAtMs = startMs + requests * gapMs;
    this.#tokensFreeAtMs = Math.max(startMs, this.#tokensFreeAtMs) + tokensMs;
    const pausedMs = Math.max(0, this.#pausedUntilMs - nowMs);
    return { waitMs: startMs - nowMs, gapMs, members: this.#count(member, nowMs), pausedMs };
  }

  pause(ms: number): void {
    const nowMs = this.#clock.now();
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + ms);
    if (nowMs - this.#lowered.atMs >= BETWEEN_DECREASES_MS) {
      this.#lowered = { share: this.#share(nowMs) * DECREASE, atMs: nowMs };
    }
    for (const listener of this.listeners) listener(ms);
  }

  #share(nowMs: number): number {
    const { share, atMs } = this.#lowered;
    return share === 1 ? 1 : Math.min(1, share + (nowMs - atMs) * CLIMB_PER_MS);
  }

  #count(member: string, nowMs: number): number {
    this.#askedAtMs.set(member, nowMs);
    for (const [name, askedAtMs] of this.#askedAtMs) {
      if (nowMs - askedAtMs > MEMBER_FOR_MS) this.#askedAtMs.delete(name);
    }
    return this.#askedAtMs.size;
  }
}

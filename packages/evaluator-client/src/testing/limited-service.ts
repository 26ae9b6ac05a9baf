import { sleep } from "../clock.ts";
import type { ManualClock } from "./manual-clock.ts";

/**
 * How a simulated service counts: a bucket that refills evenly, a window that starts anew, a window
 * that ends now, or not at all.
 */
type LimitKind = "bucket" | "window" | "sliding" | "none";

/** The limit of a simulated service, and what else it does. */
export interface ServiceLimit {
  readonly limit: number;
  readonly windowMs: number;
  readonly kind: LimitKind;
  /** How many requests a bucket holds. @default limit */
  readonly burst?: number;
  /** How a throttled answer says when to come back. @default "seconds" */
  readonly retryAfter?: "exact" | "seconds" | "absent";
  /** The mean time of an answer, in milliseconds. @default 100 */
  readonly latencyMs?: number;
  /** Whether a throttled answer comes after 2 ms, and not as late as any other. @default false */
  readonly refusesAtOnce?: boolean;
  /** Another limit from some time on. */
  readonly later?: { readonly fromMs: number; readonly limit: number };
}

/** A throttled answer, and how long it asks to wait, in milliseconds, if it says so. */
export interface Throttled {
  readonly retryAfterMs: number | null;
}

const json = { headers: { "Content-Type": "application/json" } };
const tooMany = JSON.stringify({ error: { message: "Too many." } });

/** A simulated service with a limit; an answer takes 0.5 to 1.5 times its latency. */
export class LimitedService {
  requests = 0;
  throttled = 0;
  readonly #clock: ManualClock;
  readonly #options: ServiceLimit;
  readonly #random: () => number;
  #level: number;
  #countedAtMs = 0;
  readonly #takenAtMs: number[] = [];

  constructor(clock: ManualClock, random: () => number, options: ServiceLimit) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
    this.#level = options.burst ?? options.limit;
  }

  /** Answers after a while, unless over the limit; headers say when to come back, if it says so. */
  async answer(body: string): Promise<Response> {
    const throttled = await this.ask();
    if (throttled === null) return new Response(body, json);
    const { retryAfterMs } = throttled;
    const retryAfter = retryAfterMs === null ? {} : { "Retry-After": String(retryAfterMs / 1000) };
    return new Response(tooMany, { status: 429, headers: { ...json.headers, ...retryAfter } });
  }

  /** Returns null for an answer, or a throttled one. */
  async ask(): Promise<Throttled | null> {
    const { retryAfter = "seconds", latencyMs = 100, refusesAtOnce = false } = this.#options;
    const arrivesMs = refusesAtOnce ? 1 : (latencyMs / 2) * (0.5 + this.#random());
    await sleep(arrivesMs, { clock: this.#clock });
    this.requests += 1;
    const waitMs = this.#count();
    if (waitMs > 0) this.throttled += 1;
    const answersMs = (refusesAtOnce ? latencyMs : latencyMs / 2) * (0.5 + this.#random());
    await sleep(refusesAtOnce && waitMs > 0 ? 1 : answersMs, { clock: this.#clock });
    if (waitMs === 0) return null;
    const exactMs = Math.ceil(waitMs);
    const askedMs = retryAfter === "exact" ? exactMs : Math.ceil(waitMs / 1000) * 1000;
    return { retryAfterMs: retryAfter === "absent" ? null : askedMs };
  }

  /** How many requests the limit allows until now. */
  get allowed(): number {
    const { limit, windowMs, later } = this.#options;
    const nowMs = this.#clock.now();
    const changedAtMs = Math.min(nowMs, later?.fromMs ?? nowMs);
    return (changedAtMs * limit + (nowMs - changedAtMs) * (later?.limit ?? 0)) / windowMs;
  }

  /** All counts so far. */
  get counts() {
    return { requests: this.requests, throttled: this.throttled, allowed: this.allowed };
  }

  /** Takes one from the limit: 0, or how long until there is one. */
  #count(): number {
    const { windowMs, kind, later } = this.#options;
    const nowMs = this.#clock.now();
    const isLater = later !== undefined && nowMs >= later.fromMs;
    const limit = isLater ? later.limit : this.#options.limit;
    if (kind === "none") return 0;
    if (kind === "sliding") return this.#countSliding(limit, nowMs);
    if (kind === "bucket") {
      const { burst = limit } = this.#options;
      this.#level = Math.min(burst, this.#level + ((nowMs - this.#countedAtMs) * limit) / windowMs);
      this.#countedAtMs = nowMs;
    } else if (nowMs - this.#countedAtMs >= windowMs) {
      this.#level = limit;
      this.#countedAtMs = nowMs - (nowMs % windowMs);
    }
    if (this.#level < 1) {
      return kind === "bucket"
        ? ((1 - this.#level) * windowMs) / limit
        : this.#countedAtMs + windowMs - nowMs;
    }
    this.#level -= 1;
    return 0;
  }

  #countSliding(limit: number, nowMs: number): number {
    const { windowMs } = this.#options;
    const sinceMs = nowMs - windowMs;
    while ((this.#takenAtMs[0] ?? nowMs) <= sinceMs) this.#takenAtMs.shift();
    const [oldest] = this.#takenAtMs;
    if (oldest !== undefined && this.#takenAtMs.length >= limit) return oldest - sinceMs;
    this.#takenAtMs.push(nowMs);
    return 0;
  }
}

/** Returns numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

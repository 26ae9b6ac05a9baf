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
  /** Whether a throttled answer says when to come back, in whole seconds. */
  readonly saysWhen: boolean;
  /** The share of answers that are throttled without a reason, to come back in a second. */
  readonly strays?: number;
  /** Another limit from some time on. */
  readonly later?: { readonly fromMs: number; readonly limit: number };
}

const json = { headers: { "Content-Type": "application/json" } };
const tooMany = JSON.stringify({ error: { message: "Too many." } });

/** A simulated service with a limit and a latency of 50 to 150 ms. */
export class LimitedService {
  requests = 0;
  throttled = 0;
  /** Requests and throttled answers of the first minute. */
  readonly firstMinute = { requests: 0, throttled: 0 };
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
    this.#level = options.limit;
  }

  /** Answers after a while, unless over the limit; headers say when to come back, if it says so. */
  async answer(body: string): Promise<Response> {
    const throttled = await this.ask();
    if (throttled === null) return new Response(body, json);
    const { retryAfterS } = throttled;
    const retryAfter = retryAfterS === null ? {} : { "Retry-After": String(retryAfterS) };
    return new Response(tooMany, { status: 429, headers: { ...json.headers, ...retryAfter } });
  }

  /** Returns null for an answer, or for a throttled one the whole seconds it asks to wait, if it says so. */
  async ask(): Promise<{ retryAfterS: number | null } | null> {
    await this.#travel();
    const { strays = 0, saysWhen } = this.#options;
    const isStray = strays > 0 && this.#random() < strays;
    const isFirstMinute = this.#clock.now() < 60_000;
    const waitMs = isStray ? 1000 : this.#count();
    this.#note(isFirstMinute, waitMs > 0);
    await this.#travel();
    if (waitMs === 0) return null;
    return { retryAfterS: isStray || saysWhen ? Math.ceil(waitMs / 1000) : null };
  }

  /** How many requests the limit allows until now. */
  get allowed(): number {
    const { limit, windowMs, later } = this.#options;
    const nowMs = this.#clock.now();
    const changedAtMs = Math.min(nowMs, later?.fromMs ?? nowMs);
    return (changedAtMs * limit + (nowMs - changedAtMs) * (later?.limit ?? 0)) / windowMs;
  }

  #note(isFirstMinute: boolean, isThrottled: boolean): void {
    this.requests += 1;
    if (isFirstMinute) this.firstMinute.requests += 1;
    if (!isThrottled) return;
    this.throttled += 1;
    if (isFirstMinute) this.firstMinute.throttled += 1;
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
      this.#level = Math.min(limit, this.#level + ((nowMs - this.#countedAtMs) * limit) / windowMs);
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

  #travel(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#clock.schedule(25 + this.#random() * 50, resolve);
    return promise;
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

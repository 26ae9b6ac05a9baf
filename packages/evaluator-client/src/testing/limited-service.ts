import type { ManualClock } from "./manual-clock.ts";

/** How a simulated service counts: a bucket that refills evenly, or a window that starts anew. */
export type LimitKind = "bucket" | "window";

/** A simulated service with a limit and a latency of 50 to 150 ms. */
export class LimitedService {
  requests = 0;
  throttled = 0;
  readonly #clock: ManualClock;
  readonly #options: { limit: number; windowMs: number; kind: LimitKind; saysWhen: boolean };
  readonly #random: () => number;
  #level: number;
  #countedAtMs = 0;

  constructor(
    clock: ManualClock,
    random: () => number,
    options: { limit: number; windowMs: number; kind: LimitKind; saysWhen: boolean },
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
    this.#level = options.limit;
  }

  /** Answers after a while, unless over the limit; headers say when to come back, if it says so. */
  async answer(body: unknown): Promise<Response> {
    await this.#travel();
    const waitMs = this.#count();
    await this.#travel();
    if (waitMs === 0) return Response.json(body);
    this.throttled += 1;
    const retryAfter = { "Retry-After": String(Math.ceil(waitMs / 1000)) };
    const headers = this.#options.saysWhen ? retryAfter : {};
    return Response.json({ error: { message: "Too many." } }, { status: 429, headers });
  }

  /** Takes one from the limit: 0, or how long until there is one. */
  #count(): number {
    const { limit, windowMs, kind } = this.#options;
    const nowMs = this.#clock.now();
    this.requests += 1;
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

  #travel(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#clock.schedule(25 + this.#random() * 50, resolve);
    return promise;
  }
}

/** Numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

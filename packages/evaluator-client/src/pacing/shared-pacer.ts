/// <reference lib="esnext.disposable" preserve="true" />
import * as z from "zod/mini";
import { type Clock, type EvaluatorRuntime, readRuntime } from "../clock.ts";
import { RateLimitError } from "../errors.ts";
import { checkOptions, closedError, type Defined, objectWith, optionsObject } from "../options.ts";
import { type Admission, CallQueue, IN_A_ROW, type PacedCall, Pause } from "./call-queue.ts";
import { LeasedSlots, type SharedPacerOptions } from "./leased-slots.ts";
import type { Pacer } from "./pacer.ts";
import { rateLimitsSchema, scaleLimits, SHARE_OF_LIMIT } from "./rate-limits.ts";

// With one call to a lease, a store that takes 50 ms leaves a fifth of 1,200 a minute unused.
const LEASE_MS = 100;
// The share of refusals that pauses no one. In processes-simulation.test.ts 8.5 % are throttled under a
// limit that is too high. Half: 6.0 %, but 10 % of strays cost a third of the rate. Twice: 13.6 %.
const STRAYS = 0.15;

const optionsSchema = optionsObject({
  store: objectWith("it is a limit store, such as memoryLimits()", "read", "swap", "onPause"),
  key: z.string().check(z.minLength(1)),
  limits: rateLimitsSchema.check(
    z.refine(
      ({ requestsPerMinute, tokensPerSecond }) =>
        (requestsPerMinute ?? tokensPerSecond) !== undefined,
      "it has requestsPerMinute or tokensPerSecond",
    ),
  ),
  whenStoreIsDown: z.optional(z.enum(["own-share", "closed"])),
  leaseMs: z.optional(z.number().check(z.positive(), z.maximum(60_000))),
  onStoreChange: z.optional(z.custom((value) => typeof value === "function", "it is a function")),
});

/**
 * Makes a pacer for a limit that several processes share.
 *
 * @throws {ConfigurationError} when an option is wrong.
 * @example
 * ```ts
 * const limits = { requestsPerMinute: 1200 };
 * await using pacer = sharedPacer({ store, key: "team-a", limits });
 * const evaluator = createEvaluator({ pacer });
 * ```
 */
export function sharedPacer(
  options: SharedPacerOptions,
  runtime: EvaluatorRuntime = {},
): Pacer & AsyncDisposable {
  checkOptions(optionsSchema, options);
  return new SharedPacer(options, readRuntime(runtime));
}

/** Sends at leased instants, and pauses with all processes after several refusals in a row, or too many. */
class SharedPacer implements Pacer, AsyncDisposable {
  readonly countsTokens: boolean;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #leaseMs: number;
  readonly #slots: LeasedSlots;
  readonly #queue: CallQueue;
  /** The refusals beyond {@link STRAYS}. */
  #score = 0;
  readonly #pause = new Pause();
  #pausedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #cancelWake: (() => void) | null = null;

  constructor(options: SharedPacerOptions, { clock, random, newId }: Defined<EvaluatorRuntime>) {
    const { leaseMs = LEASE_MS, whenStoreIsDown = "own-share" } = options;
    this.countsTokens = options.limits.tokensPerSecond !== undefined;
    this.#clock = clock;
    this.#random = random;
    this.#leaseMs = leaseMs;
    this.#pause.cause = pausedElsewhere();
    this.#queue = new CallQueue(
      clock,
      () => (this.#pausedMs() > 0 ? this.#pause : null),
      () => this.#wake(),
    );
    this.#slots = new LeasedSlots({
      ...options,
      limits: scaleLimits(options.limits, SHARE_OF_LIMIT),
      leaseMs,
      whenStoreIsDown,
      clock,
      member: newId(),
      onChange: () => this.#wake(),
      onPause: (ms) => this.#extend(ms),
    });
  }

  admit(call: PacedCall): Promise<Admission> {
    if (this.#isClosed) return Promise.reject(closedError("shared pacer", "pacer"));
    if (call.signal?.aborted) return Promise.reject(call.signal.reason);
    const admittedAdmission = this.admitNow(call.tokens);
    if (admittedAdmission !== null) return Promise.resolve(admittedAdmission);
    return this.#queue.join(call, this.#pausedMs() || null);
  }

  admitNow(tokens: number): Admission | null {
    if (this.#isClosed || this.#queue.waiters.length > 0) return null;
    const nowMs = this.#clock.now();
    // Old slots were not used in time; used now, they would exceed the limit together with others' slots.
    this.#slots.dropBefore(nowMs - this.#leaseMs);
    return this.#slots.take(tokens, nowMs) ? this.#pass(tokens, nowMs) : null;
  }

  /** Rejects the waiting calls; the store does not change. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#cancelWake?.();
    this.#slots.close();
    for (let next = this.#queue.waiters[0]; next !== undefined; next = this.#queue.waiters[0]) {
      this.#queue.leave(next).reject(closedError("shared pacer", "pacer"));
    }
  }

  /** Admits whoever may go now, asks for more slots, and comes back when something may change. */
  #wake(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    const nowMs = this.#clock.now();
    while (this.#queue.waiters.length > 0) {
      const next = this.#queue.next(this.#pause.refusals === 0);
      if (!this.#slots.take(next.tokens, nowMs)) break;
      this.#queue.leave(next).admit(this.#pass(next.tokens, nowMs));
    }
    if (this.#queue.waiters.length === 0) return;
    const unservedWaiters = this.#queue.waiters.slice(this.#slots.count);
    if (unservedWaiters.length > 0 && this.#slots.askAtMs <= nowMs)
      this.#slots.ask(unservedWaiters);
    const askAtMs = unservedWaiters.length > 0 ? this.#slots.askAtMs : Number.POSITIVE_INFINITY;
    const nextAtMs = Math.min(this.#slots.firstAtMs, askAtMs);
    if (nextAtMs === Number.POSITIVE_INFINITY) return;
    this.#cancelWake = this.#clock.schedule(Math.max(0, nextAtMs - nowMs), () => this.#wake());
  }

  #pass(tokens: number, passedAtMs: number): Admission {
    this.#score = Math.max(0, this.#score - STRAYS);
    return {
      succeeded: (tokensUsed) => {
        this.#pause.refusals = 0;
        this.#slots.correct((tokensUsed ?? tokens) - tokens);
      },
      throttled: (retryAfterMs, cause) => {
        // The answer to a call from before the pause shows nothing new.
        if (passedAtMs < this.#pausedAtMs) return this.#refusedBefore(retryAfterMs);
        this.#score += 1;
        const isLimit = this.#score >= (1 - STRAYS) * IN_A_ROW || this.#pause.refusals > 0;
        if (!isLimit) return "stray";
        const refusal = { retryAfterMs, random: this.#random(), cause: cause ?? this.#pause.cause };
        this.#pauseAll(this.#pause.add(refusal));
        return "limit";
      },
      ended: () => undefined,
    };
  }

  #refusedBefore(retryAfterMs: number | null): "limit" | "stray" {
    const leftMs = this.#pausedMs();
    if (leftMs === 0) return "stray";
    if ((retryAfterMs ?? 0) > leftMs) this.#pauseAll(retryAfterMs ?? 0);
    return "limit";
  }

  #pauseAll(ms: number): void {
    this.#extend(ms);
    this.#slots.pause(ms);
  }

  #extend(ms: number): void {
    const nowMs = this.#clock.now();
    if (this.#pausedMs() === 0) this.#pausedAtMs = nowMs;
    this.#score = 0;
    this.#pause.extendTo(nowMs + ms);
    this.#slots.dropBefore(this.#pause.opensAtMs);
    this.#queue.rejectLate();
    this.#wake();
  }

  #pausedMs(): number {
    return this.#pause.leftMs(this.#clock.now());
  }
}

/** The cause of a pause that another process began. */
function pausedElsewhere(): RateLimitError {
  return new RateLimitError("Another process was refused under the shared limit.", {
    status: 429,
    type: null,
    requestId: null,
    generationId: null,
    isRetryable: true,
    retryAfterMs: null,
    needsPaidCredits: false,
  });
}

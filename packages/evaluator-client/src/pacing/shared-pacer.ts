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
const STRAY_SHARE = 0.15;

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
  readonly #runtimeClock: Clock;
  readonly #randomSource: () => number;
  readonly #leaseMs: number;
  readonly #leasedSlots: LeasedSlots;
  readonly #callQueue: CallQueue;
  /** The refusals beyond {@link STRAY_SHARE}. */
  #refusalScore = 0;
  readonly #currentPause = new Pause();
  #pausedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #cancelWake: (() => void) | null = null;

  constructor(options: SharedPacerOptions, { clock, random, newId }: Defined<EvaluatorRuntime>) {
    const { leaseMs = LEASE_MS, whenStoreIsDown = "own-share" } = options;
    this.countsTokens = options.limits.tokensPerSecond !== undefined;
    this.#runtimeClock = clock;
    this.#randomSource = random;
    this.#leaseMs = leaseMs;
    this.#currentPause.cause = pausedElsewhere();
    this.#callQueue = new CallQueue(
      clock,
      () => (this.#pausedMs() > 0 ? this.#currentPause : null),
      () => this.#wakeWaiters(),
    );
    this.#leasedSlots = new LeasedSlots({
      ...options,
      limits: scaleLimits(options.limits, SHARE_OF_LIMIT),
      leaseMs,
      whenStoreIsDown,
      clock,
      member: newId(),
      onChange: () => this.#wakeWaiters(),
      onPause: (pauseMs) => this.#extendPause(pauseMs),
    });
  }

  admit(pacedCall: PacedCall): Promise<Admission> {
    if (this.#isClosed) return Promise.reject(closedError("shared pacer", "pacer"));
    if (pacedCall.signal?.aborted) return Promise.reject(pacedCall.signal.reason);
    const admittedAdmission = this.admitNow(pacedCall.tokens);
    if (admittedAdmission !== null) return Promise.resolve(admittedAdmission);
    return this.#callQueue.joinQueue(pacedCall, this.#pausedMs() || null);
  }

  admitNow(tokens: number): Admission | null {
    if (this.#isClosed || this.#callQueue.waiters.length > 0) return null;
    const nowMs = this.#runtimeClock.now();
    // Old slots were not used in time; used now, they would exceed the limit together with others' slots.
    this.#leasedSlots.dropBefore(nowMs - this.#leaseMs);
    return this.#leasedSlots.takeSlot(tokens, nowMs) ? this.#passCall(tokens, nowMs) : null;
  }

  /** Rejects the waiting calls; the store does not change. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#cancelWake?.();
    this.#leasedSlots.close();
    for (
      let next = this.#callQueue.waiters[0];
      next !== undefined;
      next = this.#callQueue.waiters[0]
    ) {
      this.#callQueue.leaveQueue(next).reject(closedError("shared pacer", "pacer"));
    }
  }

  /** Admits whoever may go now, asks for more slots, and comes back when something may change. */
  #wakeWaiters(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    const nowMs = this.#runtimeClock.now();
    while (this.#callQueue.waiters.length > 0) {
      const next = this.#callQueue.next(this.#currentPause.refusals === 0);
      if (!this.#leasedSlots.takeSlot(next.tokens, nowMs)) break;
      this.#callQueue.leaveQueue(next).admit(this.#passCall(next.tokens, nowMs));
    }
    if (this.#callQueue.waiters.length === 0) return;
    const unservedWaiters = this.#callQueue.waiters.slice(this.#leasedSlots.count);
    if (unservedWaiters.length > 0 && this.#leasedSlots.askAtMs <= nowMs)
      this.#leasedSlots.askForSlots(unservedWaiters);
    const askAtMs =
      unservedWaiters.length > 0 ? this.#leasedSlots.askAtMs : Number.POSITIVE_INFINITY;
    const nextAtMs = Math.min(this.#leasedSlots.firstAtMs, askAtMs);
    if (nextAtMs === Number.POSITIVE_INFINITY) return;
    this.#cancelWake = this.#runtimeClock.schedule(Math.max(0, nextAtMs - nowMs), () =>
      this.#wakeWaiters(),
    );
  }

  #passCall(tokens: number, passedAtMs: number): Admission {
    this.#refusalScore = Math.max(0, this.#refusalScore - STRAY_SHARE);
    return {
      succeeded: (tokensUsed) => {
        this.#currentPause.refusals = 0;
        this.#leasedSlots.correct((tokensUsed ?? tokens) - tokens);
      },
      throttled: (retryAfterMs, cause) => {
        // The answer to a call from before the pause shows nothing new.
        if (passedAtMs < this.#pausedAtMs) return this.#refusedBefore(retryAfterMs);
        this.#refusalScore += 1;
        const isLimit =
          this.#refusalScore >= (1 - STRAY_SHARE) * IN_A_ROW || this.#currentPause.refusals > 0;
        if (!isLimit) return "stray";
        const refusal = {
          retryAfterMs,
          random: this.#randomSource(),
          cause: cause ?? this.#currentPause.cause,
        };
        this.#pauseAll(this.#currentPause.addRefusal(refusal));
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

  #pauseAll(pauseMs: number): void {
    this.#extendPause(pauseMs);
    this.#leasedSlots.pauseSlots(pauseMs);
  }

  #extendPause(pauseMs: number): void {
    const nowMs = this.#runtimeClock.now();
    if (this.#pausedMs() === 0) this.#pausedAtMs = nowMs;
    this.#refusalScore = 0;
    this.#currentPause.extendTo(nowMs + pauseMs);
    this.#leasedSlots.dropBefore(this.#currentPause.opensAtMs);
    this.#callQueue.rejectLate();
    this.#wakeWaiters();
  }

  #pausedMs(): number {
    return this.#currentPause.leftMs(this.#runtimeClock.now());
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

import { type Clock, type EvaluatorRuntime, readRuntime, wholeMicroseconds } from "../clock.ts";
import { checkOptions } from "../options.ts";
import { type Admission, CallQueue, type PacedCall, type Waiter } from "./call-queue.ts";
import { Pause, type Refusal } from "./pause.ts";
import { RateEstimate } from "./rate-estimate.ts";
import { type RateLimits, rateLimitsSchema, TokenBucket } from "./rate-limits.ts";

/**
 * The share of a known limit that is used. Chosen, to spare some for a service that counts otherwise:
 * one that counts as we do throttles nothing at the whole of it either (processes-simulation.test.ts).
 */
export const SHARE_OF_LIMIT = 0.95;

/** Decides when requests may be sent, for everyone who shares a limit. */
export interface Pacer {
  /** Whether the calls' tokens matter; without a limit on them, nobody needs to estimate them. */
  readonly countsTokens: boolean;
  /** Returns leave to send a request of that many tokens at once, or null when it has to wait. */
  admitNow(tokens: number): Admission | null;
  /**
   * Waits until the call may be sent.
   *
   * @throws the signal's reason, at once when it aborts.
   * @throws TimeoutError when the call's deadline passes first, at once when that is certain.
   */
  admit(call: PacedCall): Promise<Admission>;
}

/**
 * Keeps to known limits by token buckets and to unknown ones by {@link RateEstimate}, and holds all
 * calls back by {@link Pause} while the service refuses every one.
 */
class LocalPacer implements Pacer {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #requests: TokenBucket | null;
  readonly #tokens: TokenBucket | null;
  readonly #rate = new RateEstimate();
  readonly #pause = new Pause();
  readonly #queue: CallQueue;
  #inFlight = 0;
  #nextAtMs = 0;
  #idleSinceMs: number | null = 0;
  #idledMs = 0;
  #pausedAtBusyMs = 0;
  #cancelWake: (() => void) | null = null;

  constructor(limits: RateLimits, { clock, random }: { clock: Clock; random: () => number }) {
    const { requestsPerMinute, tokensPerSecond } = limits;
    this.#requests = bucketFor(requestsPerMinute && requestsPerMinute / 60);
    this.#tokens = bucketFor(tokensPerSecond);
    this.#clock = clock;
    this.#random = random;
    this.#queue = new CallQueue(clock, {
      onLeave: () => this.#wake(),
      onImpatient: () => this.#rejectLate(),
    });
  }

  get countsTokens(): boolean {
    return this.#tokens !== null;
  }

  admit(call: PacedCall): Promise<Admission> {
    if (call.signal?.aborted) return Promise.reject(call.signal.reason);
    const admitted = this.admitNow(call.tokens);
    if (admitted !== null) return Promise.resolve(admitted);
    const isNext = this.#queue.waiters.length === 0;
    const nowMs = this.#clock.now();
    const delayMs = this.#delayMs(call.tokens, nowMs);
    this.#endIdling(nowMs);
    const admission = this.#queue.join(call);
    const pauseMs = this.#pause.leftMs(nowMs);
    if (pauseMs > 0) call.onWait?.(pauseMs);
    else call.onWait?.(isNext && Number.isFinite(delayMs) ? delayMs : null);
    this.#rejectLate();
    this.#wake();
    return admission;
  }

  admitNow(tokens: number): Admission | null {
    const nowMs = this.#clock.now();
    const mayPass = this.#queue.waiters.length === 0 && this.#delayMs(tokens, nowMs) === 0;
    return mayPass ? this.#pass(tokens, nowMs) : null;
  }

  /** Admits whoever may go now, and comes back when the next one may. */
  #wake(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const nowMs = this.#clock.now();
      const delayMs = this.#delayMs(next.tokens, nowMs);
      if (delayMs === Number.POSITIVE_INFINITY) return;
      if (delayMs > 0) {
        this.#cancelWake = this.#clock.schedule(wholeMicroseconds(delayMs), () => this.#wake());
        return;
      }
      this.#queue.leave(next).admit(this.#pass(next.tokens, nowMs));
    }
    // Nobody waits: whoever did may have left without a turn.
    if (this.#inFlight === 0) this.#idleSinceMs ??= this.#clock.now();
  }

  /** While it is not sure that answers come, those go first who lose the least by a throttled one. */
  #next(): Waiter | undefined {
    return this.#rate.isSteady && this.#pause.isOpen
      ? this.#queue.waiters[0]
      : this.#queue.withMostRetriesLeft();
  }

  #delayMs(tokens: number, nowMs: number): number {
    return Math.max(
      this.#pause.delayMs(nowMs),
      this.#nextAtMs - nowMs,
      this.#requests?.delayMs(1, nowMs) ?? 0,
      this.#tokens?.delayMs(tokens, nowMs) ?? 0,
    );
  }

  #pass(tokens: number, passedAtMs: number): Admission {
    this.#endIdling(passedAtMs);
    this.#inFlight += 1;
    this.#requests?.take(1, passedAtMs);
    this.#tokens?.take(tokens, passedAtMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, passedAtMs) + this.#rate.intervalMs;
    const isProbe = this.#pause.pass();
    const probes = isProbe ? this.#pause.cause : null;
    const attempt = this.#rate.sent();
    const settle = <TNote>(note: (nowMs: number) => TNote): TNote => {
      this.#inFlight -= 1;
      const nowMs = this.#clock.now();
      const noted = note(nowMs);
      this.#wake();
      return noted;
    };
    return {
      probes,
      succeeded: (tokensUsed) =>
        settle((nowMs) => {
          this.#tokens?.take((tokensUsed ?? tokens) - tokens, nowMs);
          this.#rate.succeeded(attempt, this.#busyMs(nowMs));
          if (isProbe) this.#reopen(nowMs);
        }),
      throttled: (retryAfterMs, error) =>
        settle((nowMs) => {
          const refusal = {
            nowMs,
            retryAfterMs,
            random: this.#random(),
            cause: probes ?? error ?? null,
          };
          return this.#refused(attempt, refusal, isProbe);
        }),
      ended: () =>
        settle(() => {
          if (isProbe) this.#pause.probeAgain();
        }),
    };
  }

  #refused(attempt: number, refusal: Refusal, isProbe: boolean): "limit" | "stray" {
    if (!this.#pause.isOpen && !isProbe) this.#pause.extend(refusal);
    else if (isProbe) this.#pause.begin(refusal);
    else {
      const busyMs = this.#busyMs(refusal.nowMs);
      if (!this.#rate.refused(attempt, busyMs)) return "stray";
      this.#pausedAtBusyMs = busyMs;
      this.#pause.begin(refusal);
    }
    this.#rejectLate();
    return "limit";
  }

  #reopen(nowMs: number): void {
    const busyMs = this.#busyMs(nowMs);
    this.#idledMs = nowMs - busyMs;
    this.#rate.reopened(busyMs, this.#pause.end());
  }

  /** The time without pauses and without idle times, neither of which counts for a rate. */
  #busyMs(nowMs: number): number {
    return this.#pause.isOpen ? nowMs - this.#idledMs : this.#pausedAtBusyMs;
  }

  #endIdling(nowMs: number): void {
    if (this.#idleSinceMs === null) return;
    this.#idledMs += nowMs - this.#idleSinceMs;
    this.#idleSinceMs = null;
  }

  /** Rejects the calls whose deadline or patience ends before the pause. */
  #rejectLate(): void {
    const nowMs = this.#clock.now();
    const { cause } = this.#pause;
    this.#queue.rejectPastDeadline(this.#pause.leftMs(nowMs));
    if (cause !== null) this.#queue.rejectImpatient(this.#pause.endsAtMs(nowMs), cause);
  }
}

/**
 * Makes a pacer that several evaluators can share, for services that count them together.
 *
 * @param limits - Known limits; without any, the rate is found from the service's answers.
 */
export function createPacer(limits: RateLimits = {}, runtime: EvaluatorRuntime = {}): Pacer {
  checkOptions(rateLimitsSchema, limits);
  return new LocalPacer(limits, readRuntime(runtime));
}

function bucketFor(perSecond: number | undefined): TokenBucket | null {
  return perSecond === undefined ? null : new TokenBucket(perSecond * SHARE_OF_LIMIT);
}

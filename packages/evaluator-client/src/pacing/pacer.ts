import { type Clock, type EvaluatorRuntime, readRuntime } from "../clock.ts";
import type { EvaluatorError } from "../errors.ts";
import { checkOptions, type Defined } from "../options.ts";
import { type Admission, CallQueue, type PacedCall, Pause } from "./call-queue.ts";
import { RateEstimate } from "./rate-estimate.ts";
import { type RateLimits, rateLimitsSchema, SHARE_OF_LIMIT, TokenBucket } from "./rate-limits.ts";

type Refusal = Parameters<Pause["add"]>[0];

/** Decides when requests may be sent, for all evaluators that share a limit. */
export interface Pacer {
  /** Whether the pacer limits tokens, so that a call must estimate its own. */
  readonly countsTokens: boolean;
  /** Returns the grant for a request of that many tokens, or null if the request has to wait. */
  admitNow(tokens: number): Admission | null;
  /** Waits for the grant. @throws the signal's reason, or a TimeoutError once the deadline is sure to pass. */
  admit(call: PacedCall): Promise<Admission>;
}

/** Enforces known limits with token buckets and estimates unknown ones ({@link RateEstimate}). */
class LocalPacer implements Pacer {
  readonly countsTokens: boolean;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #requests: TokenBucket | null;
  readonly #tokens: TokenBucket | null;
  readonly #rate = new RateEstimate();
  readonly #queue: CallQueue;
  #pause: Pause | null = null;
  #pausedAtMs = 0;
  #pausedAtBusyMs = 0;
  #isProbing = false;
  #inFlight = 0;
  #nextAtMs = 0;
  #idleSinceMs: number | null = 0;
  #idledMs = 0;
  #cancelWake: (() => void) | null = null;

  constructor(limits: RateLimits, { clock, random }: Defined<EvaluatorRuntime>) {
    const { requestsPerMinute, tokensPerSecond } = limits;
    this.#requests = bucketFor(requestsPerMinute && requestsPerMinute / 60);
    this.#tokens = bucketFor(tokensPerSecond);
    this.countsTokens = this.#tokens !== null;
    this.#clock = clock;
    this.#random = random;
    this.#queue = new CallQueue(
      clock,
      () => this.#pause,
      () => this.#wake(),
    );
  }

  admit(call: PacedCall): Promise<Admission> {
    if (call.signal?.aborted) return Promise.reject(call.signal.reason);
    const admittedAdmission = this.admitNow(call.tokens);
    if (admittedAdmission !== null) return Promise.resolve(admittedAdmission);
    const isNext = this.#queue.waiters.length === 0;
    const nowMs = this.#clock.now();
    const delayMs = this.#delayMs(call.tokens, nowMs);
    this.#endIdling(nowMs);
    const pauseMs = this.#pause?.leftMs(nowMs) ?? 0;
    const turnMs = isNext && Number.isFinite(delayMs) ? delayMs : null;
    return this.#queue.join(call, pauseMs > 0 ? pauseMs : turnMs);
  }

  admitNow(tokens: number): Admission | null {
    const nowMs = this.#clock.now();
    const mayPass = this.#queue.waiters.length === 0 && this.#delayMs(tokens, nowMs) === 0;
    return mayPass ? this.#pass(tokens, nowMs) : null;
  }

  /** Admits the calls that may be sent now, and schedules the next check. */
  #wake(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    while (this.#queue.waiters.length > 0) {
      const next = this.#queue.next(this.#rate.isSteady && this.#pause === null);
      const nowMs = this.#clock.now();
      const delayMs = this.#delayMs(next.tokens, nowMs);
      if (delayMs === Number.POSITIVE_INFINITY) return;
      if (delayMs > 0) {
        this.#cancelWake = this.#clock.schedule(delayMs, () => this.#wake());
        return;
      }
      this.#queue.leave(next).admit(this.#pass(next.tokens, nowMs));
    }
    // The last waiter may have left without a turn.
    if (this.#inFlight === 0) this.#idleSinceMs ??= this.#clock.now();
  }

  #delayMs(tokens: number, nowMs: number): number {
    if (this.#isProbing) return Number.POSITIVE_INFINITY;
    return Math.max(
      this.#pause?.leftMs(nowMs) ?? 0,
      this.#nextAtMs - nowMs,
      this.#requests?.delayMs(1, nowMs) ?? 0,
      this.#tokens?.delayMs(tokens, nowMs) ?? 0,
    );
  }

  #pass(tokens: number, nowMs: number): Admission {
    this.#endIdling(nowMs);
    this.#inFlight += 1;
    this.#requests?.take(1, nowMs);
    this.#tokens?.take(tokens, nowMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + this.#rate.intervalMs;
    this.#isProbing = this.#pause !== null;
    return this.#admission(tokens, this.#rate.sent(), this.#pause?.cause ?? null);
  }

  #admission(tokens: number, attempt: number, probes: EvaluatorError | null): Admission {
    const isProbe = this.#isProbing;
    return {
      probes,
      succeeded: (tokensUsed) => {
        const nowMs = this.#clock.now();
        this.#tokens?.take((tokensUsed ?? tokens) - tokens, nowMs);
        const busyMs = this.#pause === null ? nowMs - this.#idledMs : this.#pausedAtBusyMs;
        this.#rate.succeeded(attempt, busyMs);
        if (isProbe) this.#reopen(nowMs);
        this.#inFlight -= 1;
        this.#wake();
      },
      throttled: (retryAfterMs, error) => {
        const refusal = { retryAfterMs, random: this.#random(), cause: probes ?? error ?? null };
        const verdict = isProbe ? this.#pauseFor(refusal) : this.#refused(attempt, refusal);
        this.#inFlight -= 1;
        this.#wake();
        return verdict;
      },
      ended: () => {
        if (isProbe) this.#isProbing = false;
        this.#inFlight -= 1;
        this.#wake();
      },
    };
  }

  #refused(attempt: number, refusal: Refusal): "limit" | "stray" {
    const nowMs = this.#clock.now();
    if (this.#pause !== null) {
      this.#pause.extendTo(nowMs + (refusal.retryAfterMs ?? 0));
      this.#queue.rejectLate();
      return "limit";
    }
    // Pauses and idle times do not count for a rate.
    const busyMs = nowMs - this.#idledMs;
    if (!this.#rate.refused(attempt, busyMs)) return "stray";
    [this.#pausedAtMs, this.#pausedAtBusyMs] = [nowMs, busyMs];
    return this.#pauseFor(refusal);
  }

  /** Begins the pause, or begins it again after a refused probe. */
  #pauseFor(refusal: Refusal): "limit" {
    this.#isProbing = false;
    this.#pause ??= new Pause();
    this.#pause.extendTo(this.#clock.now() + this.#pause.add(refusal));
    this.#queue.rejectLate();
    return "limit";
  }

  #reopen(nowMs: number): void {
    // Until it opened: the probe may be sent an hour later.
    const pausedMs = (this.#pause as Pause).opensAtMs - this.#pausedAtMs;
    this.#idledMs = nowMs - this.#pausedAtBusyMs;
    this.#rate.reopened(this.#pausedAtBusyMs, pausedMs);
    this.#pause = null;
    this.#isProbing = false;
  }

  #endIdling(nowMs: number): void {
    if (this.#idleSinceMs === null) return;
    this.#idledMs += nowMs - this.#idleSinceMs;
    this.#idleSinceMs = null;
  }
}

/** Makes a pacer for several evaluators; without known limits, it estimates the rate from the answers. */
export function createPacer(limits: RateLimits = {}, runtime: EvaluatorRuntime = {}): Pacer {
  checkOptions(rateLimitsSchema, limits);
  return new LocalPacer(limits, readRuntime(runtime));
}

function bucketFor(perSecond: number | undefined): TokenBucket | null {
  return perSecond === undefined ? null : new TokenBucket(perSecond * SHARE_OF_LIMIT);
}

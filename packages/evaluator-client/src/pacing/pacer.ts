import { type Clock, type EvaluatorRuntime, readRuntime } from "../clock.ts";
import type { EvaluatorError } from "../errors.ts";
import { checkOptions, type Defined } from "../options.ts";
import { type Admission, CallQueue, type PacedCall, Pause } from "./call-queue.ts";
import { RateEstimate } from "./rate-estimate.ts";
import { type RateLimits, rateLimitsSchema, SHARE_OF_LIMIT, TokenBucket } from "./rate-limits.ts";

type Refusal = Parameters<Pause["addRefusal"]>[0];

/** Decides when requests may be sent, for all evaluators that share a limit. */
export interface Pacer {
  /** Whether the pacer limits tokens, so that a call must estimate its own. */
  readonly countsTokens: boolean;
  /** Returns the grant for a request of that many tokens, or null if the request has to wait. */
  admitNow(tokens: number): Admission | null;
  /** Waits for the grant. @throws the signal's reason, or a TimeoutError once the deadline is sure to pass. */
  admit(pacedCall: PacedCall): Promise<Admission>;
}

/** Enforces known limits with token buckets and estimates unknown ones ({@link RateEstimate}). */
class LocalPacer implements Pacer {
  readonly countsTokens: boolean;
  readonly #runtimeClock: Clock;
  readonly #randomSource: () => number;
  readonly #requests: TokenBucket | null;
  readonly #tokenBucket: TokenBucket | null;
  readonly #rateEstimate = new RateEstimate();
  readonly #callQueue: CallQueue;
  #currentPause: Pause | null = null;
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
    this.#tokenBucket = bucketFor(tokensPerSecond);
    this.countsTokens = this.#tokenBucket !== null;
    this.#runtimeClock = clock;
    this.#randomSource = random;
    this.#callQueue = new CallQueue(
      clock,
      () => this.#currentPause,
      () => this.#wakeWaiters(),
    );
  }

  admit(pacedCall: PacedCall): Promise<Admission> {
    if (pacedCall.signal?.aborted) return Promise.reject(pacedCall.signal.reason);
    const admittedAdmission = this.admitNow(pacedCall.tokens);
    if (admittedAdmission !== null) return Promise.resolve(admittedAdmission);
    const isNextInQueue = this.#callQueue.waiters.length === 0;
    const nowMs = this.#runtimeClock.now();
    const delayMs = this.#delayMs(pacedCall.tokens, nowMs);
    this.#endIdling(nowMs);
    const pauseMs = this.#currentPause?.leftMs(nowMs) ?? 0;
    const turnDelayMs = isNextInQueue && Number.isFinite(delayMs) ? delayMs : null;
    return this.#callQueue.joinQueue(pacedCall, pauseMs > 0 ? pauseMs : turnDelayMs);
  }

  admitNow(tokens: number): Admission | null {
    const nowMs = this.#runtimeClock.now();
    const mayPass = this.#callQueue.waiters.length === 0 && this.#delayMs(tokens, nowMs) === 0;
    return mayPass ? this.#passCall(tokens, nowMs) : null;
  }

  /** Admits the calls that may be sent now, and schedules the next check. */
  #wakeWaiters(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    while (this.#callQueue.waiters.length > 0) {
      const next = this.#callQueue.next(this.#rateEstimate.isSteady && this.#currentPause === null);
      const nowMs = this.#runtimeClock.now();
      const delayMs = this.#delayMs(next.tokens, nowMs);
      if (delayMs === Number.POSITIVE_INFINITY) return;
      if (delayMs > 0) {
        this.#cancelWake = this.#runtimeClock.schedule(delayMs, () => this.#wakeWaiters());
        return;
      }
      this.#callQueue.leaveQueue(next).admit(this.#passCall(next.tokens, nowMs));
    }
    // The last waiter may have left without a turn.
    if (this.#inFlight === 0) this.#idleSinceMs ??= this.#runtimeClock.now();
  }

  #delayMs(tokens: number, nowMs: number): number {
    if (this.#isProbing) return Number.POSITIVE_INFINITY;
    return Math.max(
      this.#currentPause?.leftMs(nowMs) ?? 0,
      this.#nextAtMs - nowMs,
      this.#requests?.delayMs(1, nowMs) ?? 0,
      this.#tokenBucket?.delayMs(tokens, nowMs) ?? 0,
    );
  }

  #passCall(tokens: number, nowMs: number): Admission {
    this.#endIdling(nowMs);
    this.#inFlight += 1;
    this.#requests?.take(1, nowMs);
    this.#tokenBucket?.take(tokens, nowMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + this.#rateEstimate.intervalMs;
    this.#isProbing = this.#currentPause !== null;
    return this.#admission(tokens, this.#rateEstimate.sent(), this.#currentPause?.cause ?? null);
  }

  #admission(tokens: number, attempt: number, probes: EvaluatorError | null): Admission {
    const isProbe = this.#isProbing;
    return {
      probes,
      succeeded: (tokensUsed) => {
        const nowMs = this.#runtimeClock.now();
        this.#tokenBucket?.take((tokensUsed ?? tokens) - tokens, nowMs);
        const busyMs = this.#currentPause === null ? nowMs - this.#idledMs : this.#pausedAtBusyMs;
        this.#rateEstimate.succeeded(attempt, busyMs);
        if (isProbe) this.#reopenCalls(nowMs);
        this.#inFlight -= 1;
        this.#wakeWaiters();
      },
      throttled: (retryAfterMs, rejectionError) => {
        const refusal = {
          retryAfterMs,
          random: this.#randomSource(),
          cause: probes ?? rejectionError ?? null,
        };
        const verdict = isProbe ? this.#pauseFor(refusal) : this.#refused(attempt, refusal);
        this.#inFlight -= 1;
        this.#wakeWaiters();
        return verdict;
      },
      ended: () => {
        if (isProbe) this.#isProbing = false;
        this.#inFlight -= 1;
        this.#wakeWaiters();
      },
    };
  }

  #refused(attempt: number, refusal: Refusal): "limit" | "stray" {
    const nowMs = this.#runtimeClock.now();
    if (this.#currentPause !== null) {
      this.#currentPause.extendTo(nowMs + (refusal.retryAfterMs ?? 0));
      this.#callQueue.rejectLate();
      return "limit";
    }
    // Pauses and idle times do not count for a rate.
    const busyMs = nowMs - this.#idledMs;
    if (!this.#rateEstimate.refused(attempt, busyMs)) return "stray";
    [this.#pausedAtMs, this.#pausedAtBusyMs] = [nowMs, busyMs];
    return this.#pauseFor(refusal);
  }

  /** Begins the pause, or begins it again after a refused probe. */
  #pauseFor(refusal: Refusal): "limit" {
    this.#isProbing = false;
    this.#currentPause ??= new Pause();
    this.#currentPause.extendTo(this.#runtimeClock.now() + this.#currentPause.addRefusal(refusal));
    this.#callQueue.rejectLate();
    return "limit";
  }

  #reopenCalls(nowMs: number): void {
    // Until it opened: the probe may be sent an hour later.
    const pausedMs = (this.#currentPause as Pause).opensAtMs - this.#pausedAtMs;
    this.#idledMs = nowMs - this.#pausedAtBusyMs;
    this.#rateEstimate.reopened(this.#pausedAtBusyMs, pausedMs);
    this.#currentPause = null;
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

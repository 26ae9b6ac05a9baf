import { type Clock, type EvaluatorRuntime, readRuntime } from "../clock.ts";
import { checkOptions } from "../options.ts";
import { AdaptiveRate, type Throughput } from "./adaptive-rate.ts";
import { type Admission, CallQueue, type PacedCall, type Waiter } from "./call-queue.ts";
import { Gate, LimitDetector, type ThrottledCall } from "./gate.ts";
import { type RateLimits, rateLimitsSchema, TokenBucket } from "./rate-limits.ts";

/**
 * The share of a known limit that is used. Chosen, to spare some for a service that counts otherwise:
 * one that counts as we do throttles nothing at the whole of it either (processes-simulation.test.ts).
 */
export const SHARE_OF_LIMIT = 0.95;
// Chosen, and halved and doubled in the runs of simulation.test.ts that find a limit within a minute.
// Over three seeds they throttle 1.4 % and use 94 %. Half: 1.5 % throttled. Twice: 1.6 %.
const FIRST_WINDOW = 4;
// Doubling with each round trip, twice; then slower, so that a limit throttles few at the start. Half:
// 93 % used. Twice: 1.9 % throttled.
const EARLY_WINDOW = 8;
// Half: 92 % used. Twice: 1.8 % throttled.
const LATER_GROWTH = 0.25;
// A window of a second asks for one or two; who asks for more means a longer one. Half and twice: no
// change.
const SHORT_RETRY_AFTER_MS = 2000;

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

// Chosen: 32 KiB a pacer. With half and with twice one run of simulation.test.ts uses less than 90 %.
const REMEMBERED = 4096;

/** Remembers when requests succeeded, from the first on, to tell how many a limit let through. */
export class RecentSuccesses implements Throughput {
  readonly #atMs = new Float64Array(REMEMBERED);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** A request succeeded. */
  add(nowMs: number): void {
    this.#atMs[this.#count % REMEMBERED] = nowMs;
    this.#count += 1;
  }

  reset(): void {
    this.#count = 0;
  }

  perMs(nowMs: number, { fromMs, extraMs = 0 }: { fromMs: number; extraMs?: number }): number {
    let best = 0;
    const oldest = Math.max(0, this.#count - REMEMBERED);
    for (let index = oldest; index < this.#count; index += 1) {
      const startedAtMs = this.#atMs[index % REMEMBERED] as number;
      if (startedAtMs > fromMs && index > oldest) break;
      best = Math.max(best, (this.#count - index) / Math.max(1, nowMs - startedAtMs + extraMs));
    }
    return best;
  }
}

/**
 * Keeps to known limits by token buckets and to unknown ones by {@link AdaptiveRate}, pauses all
 * calls by {@link Gate} when {@link LimitDetector} sees a limit, and lets few go at once until the
 * first answers are in.
 */
class LocalPacer implements Pacer {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #requests: TokenBucket | null;
  readonly #tokens: TokenBucket | null;
  readonly #throughput = new RecentSuccesses();
  readonly #rate = new AdaptiveRate(this.#throughput);
  readonly #gate = new Gate();
  readonly #detector = new LimitDetector();
  readonly #queue: CallQueue;
  // By a known limit or since a throttled answer; before, only the window keeps a call.
  #isPaced: boolean;
  #window = FIRST_WINDOW;
  #inFlight = 0;
  #nextAtMs = 0;
  #idleSinceMs: number | null = null;
  #idledMs = 0;
  #cancelWake: (() => void) | null = null;

  constructor(limits: RateLimits, { clock, random }: { clock: Clock; random: () => number }) {
    const { requestsPerMinute, tokensPerSecond } = limits;
    this.#requests = bucketFor(requestsPerMinute && requestsPerMinute / 60);
    this.#tokens = bucketFor(tokensPerSecond);
    this.#isPaced = this.#requests !== null || this.#tokens !== null;
    this.#clock = clock;
    this.#random = random;
    this.#queue = new CallQueue(clock, () => this.#wake());
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
    const pauseMs = this.#gate.closedForMs(nowMs);
    if (pauseMs > 0) call.onWait?.(pauseMs);
    else call.onWait?.(isNext && Number.isFinite(delayMs) ? delayMs : null);
    this.#rejectPastDeadline();
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
        this.#cancelWake = this.#clock.schedule(delayMs, () => this.#wake());
        return;
      }
      this.#queue.leave(next).admit(this.#pass(next.tokens, nowMs));
    }
    // Nobody waits: whoever did may have left without a turn.
    if (this.#inFlight === 0) this.#idleSinceMs ??= this.#clock.now();
  }

  /** While it is not sure that answers come, those go first who lose the least by a throttled one. */
  #next(): Waiter | undefined {
    const isSure = !this.#isPaced || (!this.#gate.isPaused && this.#rate.isRecovered);
    return isSure ? this.#queue.waiters[0] : this.#queue.withMostRetriesLeft();
  }

  #delayMs(tokens: number, nowMs: number): number {
    if (this.#inFlight >= this.#window) return Number.POSITIVE_INFINITY;
    if (!this.#isPaced) return 0;
    return Math.max(
      this.#gate.delayMs(nowMs),
      this.#nextAtMs - nowMs,
      this.#requests?.delayMs(1, nowMs) ?? 0,
      this.#tokens?.delayMs(tokens, nowMs) ?? 0,
    );
  }

  #pass(tokens: number, passedAtMs: number): Admission {
    this.#endIdling(passedAtMs);
    this.#inFlight += 1;
    const isFirst = this.#isPaced && this.#take(tokens, passedAtMs);
    const settle = <TNote>(note: (nowMs: number) => TNote): TNote => {
      this.#inFlight -= 1;
      const nowMs = this.#clock.now();
      const noted = note(nowMs);
      this.#wake();
      return noted;
    };
    return {
      succeeded: (tokensUsed) =>
        settle((nowMs) => {
          this.#tokens?.take((tokensUsed ?? tokens) - tokens, nowMs);
          this.#succeeded({ isFirst, passedAtMs, nowMs });
        }),
      throttled: (retryAfterMs) =>
        settle((nowMs) => this.#throttled({ passedAtMs, nowMs, retryAfterMs })),
      ended: () =>
        settle(() => {
          if (isFirst) this.#gate.tryAgain();
        }),
    };
  }

  /** Takes a request from the limits; returns whether it tries first for all, after a pause. */
  #take(tokens: number, passedAtMs: number): boolean {
    this.#requests?.take(1, passedAtMs);
    this.#tokens?.take(tokens, passedAtMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, passedAtMs) + this.#rate.intervalMs;
    const isFirst = this.#gate.isPaused;
    this.#gate.pass();
    return isFirst;
  }

  #succeeded(call: { isFirst: boolean; passedAtMs: number; nowMs: number }): void {
    const busyMs = call.nowMs - this.#idledMs;
    this.#window += this.#window < EARLY_WINDOW ? 1 : LATER_GROWTH;
    this.#throughput.add(busyMs);
    if (!this.#isPaced) return;
    this.#rate.succeeded(call.passedAtMs - this.#idledMs, busyMs);
    this.#detector.succeeded();
    if (!call.isFirst) return;
    this.#gate.open();
    this.#detector.reopened(this.#rate.isNoisy);
    this.#rate.reopened(busyMs);
  }

  #throttled(call: Omit<ThrottledCall, "random">): "limit" | "stray" {
    if (!this.#isPaced) {
      this.#isPaced = true;
      this.#detector.succeeded(this.#throughput.count);
    }
    const wasOpen = this.#gate.isOpen;
    if (wasOpen) {
      if (this.#gate.closedSince(call.passedAtMs)) return "stray";
      const [passedAtMs, nowMs] = [call.passedAtMs - this.#idledMs, call.nowMs - this.#idledMs];
      const isShort = (call.retryAfterMs ?? 0) <= SHORT_RETRY_AFTER_MS;
      if (isShort && this.#rate.overshot(passedAtMs, nowMs)) return "stray";
      if (!this.#detector.throttled(this.#rate.isNoisy) && !this.#rate.isTrying) {
        this.#rate.strayed(passedAtMs, nowMs);
        return "stray";
      }
    }
    const hasClosed = this.#gate.close({ ...call, random: this.#random() });
    if (hasClosed && wasOpen) this.#rate.throttled(call.nowMs - this.#idledMs);
    this.#rejectPastDeadline();
    return "limit";
  }

  /** Time in which nobody wanted to send says nothing about a rate. */
  #endIdling(nowMs: number): void {
    if (this.#idleSinceMs === null) return;
    this.#idledMs += nowMs - this.#idleSinceMs;
    this.#idleSinceMs = null;
  }

  #rejectPastDeadline(): void {
    this.#queue.rejectPastDeadline(this.#gate.closedForMs(this.#clock.now()));
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

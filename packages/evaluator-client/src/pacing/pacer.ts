import { type Clock, systemClock } from "../retry/clock.ts";
import { AdaptiveRate } from "./adaptive-rate.ts";
import { Gate } from "./gate.ts";
import type { Admission, PacedCall } from "./paced-call.ts";
import type { RateLimits } from "./rate-limits.ts";
import { TokenBucket } from "./token-bucket.ts";
import { type Waiter, WaitingLine } from "./waiting-line.ts";

const SHARE_OF_LIMIT = 0.95;
const FIRST_WINDOW = 4;

/**
 * Decides when requests may be sent, for everyone who shares a limit: known limits by token
 * buckets, unknown ones by {@link AdaptiveRate}, a pause for all after a throttled answer by
 * {@link Gate}, and few requests at once until the first answers are in.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #requests: TokenBucket | null;
  readonly #tokens: TokenBucket | null;
  readonly #rate = new AdaptiveRate();
  readonly #gate = new Gate();
  readonly #line: WaitingLine;
  #window = FIRST_WINDOW;
  #inFlight = 0;
  #nextAtMs = 0;
  #cancelWake: (() => void) | null = null;

  constructor(limits: RateLimits, { clock, random }: { clock: Clock; random: () => number }) {
    const { requestsPerMinute, tokensPerSecond } = limits;
    this.#requests = bucketFor(requestsPerMinute && requestsPerMinute / 60);
    this.#tokens = bucketFor(tokensPerSecond);
    this.#clock = clock;
    this.#random = random;
    this.#line = new WaitingLine(clock, () => this.#wake());
  }

  /** Whether the calls' tokens matter; without a limit on them, nobody needs to estimate them. */
  get countsTokens(): boolean {
    return this.#tokens !== null;
  }

  /**
   * Waits until the call may be sent.
   *
   * @throws the signal's reason, at once when it aborts.
   * @throws TimeoutError when the call's deadline passes first, at once when that is certain.
   */
  admit(call: PacedCall): Promise<Admission> {
    if (call.signal?.aborted) return Promise.reject(call.signal.reason);
    const admitted = this.admitNow(call.tokens);
    if (admitted !== null) return Promise.resolve(admitted);
    const isNext = this.#line.length === 0;
    const delayMs = this.#delayMs(call.tokens, this.#clock.now());
    const admission = this.#line.join(call);
    call.onWait?.(isNext && Number.isFinite(delayMs) ? delayMs : null);
    this.#refuseHopeless();
    this.#wake();
    return admission;
  }

  /** Leave to send a request of that many tokens at once, or null when it has to wait. */
  admitNow(tokens: number): Admission | null {
    const nowMs = this.#clock.now();
    const mayPass = this.#line.length === 0 && this.#delayMs(tokens, nowMs) === 0;
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
      this.#line.leave(next).admit(this.#pass(next.tokens, nowMs));
    }
  }

  /** While it is not sure that answers come, those go first who lose the least by a refusal. */
  #next(): Waiter | undefined {
    const isSure = !this.#gate.isPaused && this.#rate.isRecovered;
    return isSure ? this.#line.first() : this.#line.freshest();
  }

  #delayMs(tokens: number, nowMs: number): number {
    if (this.#inFlight >= this.#window) return Number.POSITIVE_INFINITY;
    return Math.max(
      this.#gate.delayMs(nowMs),
      this.#nextAtMs - nowMs,
      this.#requests?.delayMs(1, nowMs) ?? 0,
      this.#tokens?.delayMs(tokens, nowMs) ?? 0,
    );
  }

  #pass(tokens: number, passedAtMs: number): Admission {
    this.#inFlight += 1;
    this.#requests?.take(1, passedAtMs);
    this.#tokens?.take(tokens, passedAtMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, passedAtMs) + this.#rate.intervalMs;
    const isFirst = this.#gate.isPaused;
    this.#gate.pass();
    const settle = (note: (nowMs: number) => void) => {
      this.#inFlight -= 1;
      note(this.#clock.now());
      this.#wake();
    };
    return {
      succeeded: (tokensUsed) =>
        settle((nowMs) => {
          this.#tokens?.take(tokensUsed - tokens, nowMs);
          this.#succeeded(isFirst, nowMs);
        }),
      throttled: (retryAfterMs) =>
        settle((nowMs) => this.#throttled({ passedAtMs, nowMs, retryAfterMs })),
      ended: () => settle(() => isFirst && this.#gate.tryAgain()),
    };
  }

  #succeeded(isFirst: boolean, nowMs: number): void {
    this.#window += 1;
    this.#rate.succeeded(nowMs);
    if (!isFirst) return;
    this.#gate.open();
    this.#rate.reopened(nowMs);
  }

  #throttled(call: { passedAtMs: number; nowMs: number; retryAfterMs: number | null }): void {
    const hasClosed = this.#gate.close({ ...call, random: this.#random() });
    if (hasClosed) this.#rate.throttled(call.nowMs);
    this.#refuseHopeless();
  }

  #refuseHopeless(): void {
    this.#line.refuseHopeless(this.#gate.closedForMs(this.#clock.now()));
  }
}

/**
 * Makes a pacer that several evaluators can share, for services that count them together.
 *
 * @param limits - Known limits; without any, the rate is found from the service's answers.
 */
export function createPacer(
  limits: RateLimits = {},
  { clock = systemClock, random = Math.random }: { clock?: Clock; random?: () => number } = {},
): Pacer {
  return new Pacer(limits, { clock, random });
}

function bucketFor(perSecond: number | undefined): TokenBucket | null {
  return perSecond === undefined ? null : new TokenBucket(perSecond * SHARE_OF_LIMIT);
}

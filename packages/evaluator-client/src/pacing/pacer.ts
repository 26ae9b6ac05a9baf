import { TimeoutError } from "../errors.ts";
import { type Clock, systemClock } from "../retry/clock.ts";
import { AdaptiveRate } from "./adaptive-rate.ts";
import { Gate } from "./gate.ts";
import type { RateLimits } from "./rate-limits.ts";
import { TokenBucket } from "./token-bucket.ts";

const SHARE_OF_LIMIT = 0.95;
const FIRST_WINDOW = 4;

/** A call that asks to be sent. */
export interface PacedCall {
  /** Estimated input tokens. */
  readonly tokens: number;
  /** Retries made so far; after a pause, the call with the most left tries first. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
  /** Monotonic time at which the call gives up. */
  readonly deadlineAtMs: number;
  /** The whole deadline, for messages, in milliseconds. */
  readonly deadlineMs: number;
  /** Told when the call has to wait: for how long, in milliseconds, or null when that is open. */
  onWait?(delayMs: number | null): void;
}

/** Leave to send one request; exactly one of its methods is called when the request ends. */
export interface Admission {
  /** An answer came. */
  succeeded(tokensUsed: number): void;
  /** The service said that it is over its limit. */
  throttled(retryAfterMs: number | null): void;
  /** It ended in any other way. */
  ended(): void;
}

interface Waiter extends PacedCall {
  admit(admission: Admission): void;
  refuse(reason: unknown): void;
}

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
  readonly #waiters: Waiter[] = [];
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
  }

  /**
   * Waits until the call may be sent.
   *
   * @throws the signal's reason, at once when it aborts.
   * @throws TimeoutError when the call's deadline passes first, at once when that is certain.
   */
  admit(call: PacedCall): Promise<Admission> {
    if (call.signal?.aborted) return Promise.reject(call.signal.reason);
    if (this.#waiters.length === 0 && this.#delayMs(call) === 0) {
      return Promise.resolve(this.#pass(call));
    }
    return new Promise((resolve, reject) => this.#wait(call, { resolve, reject }));
  }

  #wait(
    call: PacedCall,
    {
      resolve,
      reject,
    }: { resolve: (admission: Admission) => void; reject: (reason: unknown) => void },
  ): void {
    const { signal } = call;
    const giveUp = (reason: unknown) => {
      this.#leave(waiter).refuse(reason);
      this.#wake();
    };
    const onAbort = () => giveUp(signal?.reason);
    const onDeadline = () => giveUp(pastDeadline(call, null));
    const cancelDeadline = this.#schedule(call.deadlineAtMs, onDeadline);
    const release = () => {
      cancelDeadline();
      signal?.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter = {
      ...call,
      admit(admission) {
        release();
        resolve(admission);
      },
      refuse(reason) {
        release();
        reject(reason);
      },
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#waiters.push(waiter);
    call.onWait?.(this.#knownDelayMs(call));
    this.#refuseHopeless();
    this.#wake();
  }

  #leave(waiter: Waiter): Waiter {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    return waiter;
  }

  /** Admits whoever may go now, and comes back when the next one may. */
  #wake(): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const delayMs = this.#delayMs(next);
      if (delayMs > 0) {
        if (delayMs !== Number.POSITIVE_INFINITY) {
          this.#cancelWake = this.#clock.schedule(delayMs, () => this.#wake());
        }
        return;
      }
      this.#leave(next).admit(this.#pass(next));
    }
  }

  /** The first in line; while it is not sure that answers come, the one with the most retries left. */
  #next(): Waiter | undefined {
    const [first] = this.#waiters;
    if (!this.#gate.isPaused && this.#rate.isRecovered) return first;
    return this.#waiters.reduce(
      (best, waiter) => (waiter.retries < best.retries ? waiter : best),
      first as Waiter,
    );
  }

  #knownDelayMs(call: PacedCall): number | null {
    const delayMs = this.#delayMs(call);
    return this.#waiters.length === 1 && Number.isFinite(delayMs) ? delayMs : null;
  }

  #delayMs({ tokens }: PacedCall): number {
    if (this.#inFlight >= this.#window) return Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.now();
    return Math.max(
      this.#gate.delayMs(nowMs),
      this.#nextAtMs - nowMs,
      this.#requests?.delayMs(1, nowMs) ?? 0,
      this.#tokens?.delayMs(tokens, nowMs) ?? 0,
    );
  }

  #pass({ tokens }: PacedCall): Admission {
    const passedAtMs = this.#clock.now();
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
        settle((nowMs) =>
          this.#throttled({ passedAtMs, nowMs, retryAfterMs, random: this.#random() }),
        ),
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

  #throttled(call: Parameters<Gate["close"]>[0]): void {
    if (this.#gate.close(call)) this.#rate.throttled(call.nowMs);
    this.#refuseHopeless();
  }

  /** Refuses those whose deadline passes before the gate opens. */
  #refuseHopeless(): void {
    const nowMs = this.#clock.now();
    const closedForMs = this.#gate.closedForMs(nowMs);
    const hopeless = this.#waiters.filter((waiter) => nowMs + closedForMs >= waiter.deadlineAtMs);
    for (const waiter of hopeless) {
      this.#leave(waiter).refuse(pastDeadline(waiter, closedForMs));
    }
  }

  #schedule(atMs: number, callback: () => void): () => void {
    if (atMs === Number.POSITIVE_INFINITY) return () => undefined;
    return this.#clock.schedule(Math.max(0, atMs - this.#clock.now()), callback);
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

function pastDeadline({ deadlineMs }: PacedCall, closedForMs: number | null): TimeoutError {
  const why =
    closedForMs === null
      ? "It was not sent: its turn under the rate limit did not come in time."
      : `It was not sent: after a rate limit, nothing is sent for another ${Math.ceil(closedForMs)} ms.`;
  const message = `The deadline of ${deadlineMs} ms (deadlineMs) leaves no time for the request. ${why}`;
  const retryAfterMs = closedForMs;
  return new TimeoutError(message, {
    timeoutMs: deadlineMs,
    limit: "deadline",
    maybeBilled: false,
    retryAfterMs,
  });
}

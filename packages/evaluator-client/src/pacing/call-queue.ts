import { type Clock, describeWait } from "../clock.ts";
import { TimeoutError } from "../errors.ts";

/** A call that asks to be sent. */
export interface PacedCall {
  /** Estimated input tokens. */
  readonly tokens: number;
  /** Retries made so far; after a pause, the call with the most left tries first. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
  /** Monotonic time at which the call gives up; infinite for never. */
  readonly deadlineAtMs: number;
  /** The whole deadline, for messages, in milliseconds. */
  readonly deadlineMs: number;
  /** Called when the call has to wait: for how long, in milliseconds, or null when that is open. */
  onWait?(delayMs: number | null): void;
}

/** Leave to send one request; exactly one of its methods is called when the request ends. */
export interface Admission {
  /** An answer came; null where it does not say how many tokens it took. */
  succeeded(tokensUsed: number | null): void;
  /**
   * The service said that it is over its limit; returns whether the pacer takes it for one and makes
   * everyone wait, or for a stray answer, after which only this call waits, by itself.
   */
  throttled(retryAfterMs: number | null): "limit" | "stray";
  /** It ended in any other way. */
  ended(): void;
}

/** A call in the line, and how its waiting ends. */
export interface Waiter extends PacedCall {
  admit(admission: Admission): void;
  reject(reason: unknown): void;
}

/** The calls that wait to be sent, in order; each leaves it by its signal or deadline as well. */
export class CallQueue {
  readonly #waiters: Waiter[] = [];
  /** Those who wait, in order. */
  readonly waiters: readonly Waiter[] = this.#waiters;
  readonly #clock: Clock;
  readonly #onLeave: () => void;

  /** @param onLeave - Called when a call left by its signal or deadline. */
  constructor(clock: Clock, onLeave: () => void) {
    this.#clock = clock;
    this.#onLeave = onLeave;
  }

  /** Joins at the end; returns what the waiting ends with, and leaves no listener or timer behind. */
  join(call: PacedCall): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { signal } = call;
      const giveUp = (reason: unknown) => {
        this.leave(waiter).reject(reason);
        this.#onLeave();
      };
      const onAbort = () => giveUp(signal?.reason);
      const cancelDeadline = this.#atDeadline(call, () => giveUp(pastDeadline(call, null)));
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
        reject(reason) {
          release();
          reject(reason);
        },
      };
      signal?.addEventListener("abort", onAbort);
      this.#waiters.push(waiter);
    });
  }

  /** Returns the first among those with the most retries left. */
  withMostRetriesLeft(): Waiter | undefined {
    return this.#waiters.reduce<Waiter | undefined>(
      (best, waiter) => (best === undefined || waiter.retries < best.retries ? waiter : best),
      undefined,
    );
  }

  /** Takes a call out of the line. */
  leave(waiter: Waiter): Waiter {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    return waiter;
  }

  /** Rejects those whose deadline passes while nothing is sent. */
  rejectPastDeadline(closedForMs: number): void {
    const opensAtMs = this.#clock.now() + closedForMs;
    for (const waiter of this.#waiters.filter((call) => opensAtMs >= call.deadlineAtMs)) {
      this.leave(waiter).reject(pastDeadline(waiter, closedForMs));
    }
  }

  #atDeadline({ deadlineAtMs }: PacedCall, callback: () => void): () => void {
    if (deadlineAtMs === Number.POSITIVE_INFINITY) return () => undefined;
    return this.#clock.schedule(Math.max(0, deadlineAtMs - this.#clock.now()), callback);
  }
}

/** The error of a call that was not sent in time, because of a pause of `closedForMs` if given. */
function pastDeadline({ deadlineMs }: PacedCall, closedForMs: number | null): TimeoutError {
  const why =
    closedForMs === null
      ? "It was not sent: its turn under the rate limit did not come in time."
      : `It was not sent: after a rate limit, nothing is sent for another ${describeWait(closedForMs)}.`;
  const message = `The deadline of ${deadlineMs} ms (deadlineMs) leaves no time for the request. ${why}`;
  return new TimeoutError(message, {
    timeoutMs: deadlineMs,
    limit: "deadline",
    maybeBilled: false,
    retryAfterMs: closedForMs,
  });
}

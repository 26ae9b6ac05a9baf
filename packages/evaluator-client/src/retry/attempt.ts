import type { Clock } from "../clock.ts";
import type { Abortable } from "../http/http-client.ts";

/** What one attempt may use: its end, and the time. */
export interface AttemptContext extends Abortable {
  /** The clock for dates in response headers. */
  readonly clock: Clock;
}

/** How one attempt may end before its answer. */
export interface AttemptLimits {
  readonly clock: Clock;
  /** The caller's own signal; its reason is thrown as it is. */
  readonly signal: AbortSignal | undefined;
  /** Time for the whole attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the error thrown when that time passes. */
  readonly createTimeoutError: () => Error;
}

/**
 * Runs one attempt under a time limit and the caller's signal. It settles as soon as either ends
 * it, whether or not the attempt listens, and leaves neither timer nor listener behind.
 */
export function runAttempt<TValue>(
  send: (context: AttemptContext) => Promise<TValue>,
  { clock, signal, timeoutMs, createTimeoutError }: AttemptLimits,
): Promise<TValue> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise<TValue>((resolve, reject) => {
    const attempt = new Attempt(clock);
    const release = () => {
      cancelTimeout();
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (reason: unknown) => {
      release();
      reject(reason);
    };
    const end = (reason: unknown) => {
      fail(reason);
      attempt.abort(reason);
    };
    const onAbort = () => end(signal?.reason);
    const cancelTimeout = clock.schedule(timeoutMs, () => end(createTimeoutError()));
    signal?.addEventListener("abort", onAbort);
    send(attempt).then((value) => {
      release();
      resolve(value);
    }, fail);
  });
}

/**
 * One attempt, as a transport sees it. Its signal is made when somebody asks for it: an
 * `AbortController` costs a fifth of a call (benchmark: calls).
 */
export class Attempt implements AttemptContext {
  readonly clock: Clock;
  #listeners: readonly ((reason: unknown) => void)[] = [];
  #controller: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController();
      this.#controller = controller;
      this.onAbort((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  onAbort(listener: (reason: unknown) => void): void {
    if (this.#aborted === null) this.#listeners = [...this.#listeners, listener];
    else listener(this.#aborted.reason);
  }

  /** Tells everyone who listens that the attempt is over. */
  abort(reason: unknown): void {
    this.#aborted = { reason };
    for (const listener of this.#listeners) listener(reason);
  }
}

/** Waits `delayMs`, or rejects with the signal's reason as soon as it aborts; leaves no listener. */
export function sleep(
  delayMs: number,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    function onAbort() {
      cancel();
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

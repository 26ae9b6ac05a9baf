import { type Clock, wholeMicroseconds } from "../clock.ts";
import { EvaluatorError, RateLimitError, StatusError, TimeoutError } from "../errors.ts";
import type { Abortable } from "../http/http-client.ts";
import type { Admission } from "../pacing/call-queue.ts";

/** What one attempt may use: its end, and the time. */
export interface AttemptContext extends Abortable {
  /** The clock for dates in response headers. */
  readonly clock: Clock;
  /** Headers that this call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends one request of a transport that sends several, as soon as the service's limits let it.
   * Waiting takes nothing of the attempt's own time.
   */
  inTurn?<TValue>(signal: AbortSignal, send: () => Promise<TValue>): Promise<TValue>;
}

/** How one attempt may end before its answer. */
export interface AttemptLimits {
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
  attempt: Attempt,
  { signal, timeoutMs, createTimeoutError }: AttemptLimits,
): Promise<TValue> {
  const { clock } = attempt;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise<TValue>((resolve, reject) => {
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
    const startedAtMs = clock.now();
    const onTime = () => {
      const leftMs = timeoutMs + attempt.waitedMs - (clock.now() - startedAtMs);
      // A remainder of a picosecond would be scheduled again and again: no clock moves by it.
      if (leftMs > 0) cancelTimeout = clock.schedule(wholeMicroseconds(leftMs), onTime);
      else end(createTimeoutError());
    };
    let cancelTimeout = clock.schedule(timeoutMs, onTime);
    signal?.addEventListener("abort", onAbort);
    send(attempt).then((value) => {
      release();
      resolve(value);
    }, fail);
  });
}

/** Lets the requests of an attempt go, one after the other. */
export interface TurnSource {
  /** Waits until one more request may go. */
  waitForTurn(signal: AbortSignal): Promise<Admission>;
}

/** How a call goes on after a failed attempt. */
export type Failure = "final" | "retryable" | "limit" | "stray";

/**
 * One attempt, as a transport sees it, and the leave of the pacer for each request it sends. Its
 * signal is made when somebody asks for it: an `AbortController` costs a fifth of a call
 * (benchmark: calls).
 */
export class Attempt implements AttemptContext {
  readonly clock: Clock;
  readonly headers: AttemptContext["headers"];
  #listeners: readonly ((reason: unknown) => void)[] = [];
  #controller: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;

  readonly #own: Admission;
  readonly #others: TurnSource;
  #takesTurns = false;
  #showsLimit = false;
  #waiting = 0;
  #waitingSinceMs = 0;
  #waitedMs = 0;

  /**
   * @param own - The admission of its first request.
   * @param others - Where those of its other requests come from.
   */
  constructor(
    { clock, headers }: Pick<AttemptContext, "clock" | "headers">,
    own: Admission,
    others: TurnSource,
  ) {
    this.clock = clock;
    this.headers = headers;
    this.#own = own;
    this.#others = others;
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

  /** Calls everyone who listens, as the attempt is over. */
  abort(reason: unknown): void {
    this.#aborted = { reason };
    for (const listener of this.#listeners) listener(reason);
  }

  async inTurn<TValue>(signal: AbortSignal, send: () => Promise<TValue>): Promise<TValue> {
    const admission = await this.#nextAdmission(signal);
    try {
      const value = await send();
      admission.succeeded(null);
      return value;
    } catch (error) {
      const failure = endFailed(admission, error);
      this.#showsLimit ||= failure === "limit";
      throw error;
    }
  }

  /** The first request of an attempt has the attempt's own admission. */
  async #nextAdmission(signal: AbortSignal): Promise<Admission> {
    if (!this.#takesTurns) {
      this.#takesTurns = true;
      return this.#own;
    }
    if (this.#waiting === 0) this.#waitingSinceMs = this.clock.now();
    this.#waiting += 1;
    try {
      return await this.#others.waitForTurn(signal);
    } finally {
      const waitedMs = this.waitedMs;
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#waitedMs = waitedMs;
    }
  }

  /** How long it has waited for its turns, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#waiting > 0 ? this.clock.now() - this.#waitingSinceMs : 0);
  }

  /** Reports to the pacer that the attempt gave its answer. */
  succeeded(tokensUsed: number): void {
    if (!this.#takesTurns) this.#own.succeeded(tokensUsed);
  }

  /** Reports to the pacer that the attempt failed; returns how the call goes on. */
  failed(error: unknown): Failure {
    if (!this.#takesTurns) return endFailed(this.#own, error);
    const failure = classifyFailure(error);
    if (failure !== "throttled") return failure;
    return this.#showsLimit ? "limit" : "stray";
  }
}

/** Reports to the pacer that a request failed; returns how the call goes on. */
function endFailed(admission: Admission, error: unknown): Failure {
  const failure = classifyFailure(error);
  if (failure === "throttled") {
    return admission.throttled(retryAfterMsOf(error), error as EvaluatorError);
  }
  admission.ended();
  return failure;
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

/** What to do about a failed attempt; `throttled` also slows everyone who shares the limit. */
export type FailureClass = "final" | "retryable" | "throttled";

/** Sorts the error of a failed attempt. */
export function classifyFailure(error: unknown): FailureClass {
  if (!(error instanceof EvaluatorError) || !error.isRetryable) return "final";
  // The probe of a pause that is not answered in time carries the refusal that began the pause.
  const refusal = error instanceof TimeoutError ? error.cause : error;
  const isThrottled =
    refusal instanceof RateLimitError || (refusal instanceof StatusError && refusal.status === 503);
  return isThrottled ? "throttled" : "retryable";
}

/** Returns how long the service asks to wait, in milliseconds, or null where it does not say. */
export function retryAfterMsOf(error: unknown): number | null {
  return error instanceof StatusError ? error.retryAfterMs : null;
}

import { type Clock, wholeMicroseconds } from "../clock.ts";
import { EvaluatorError, RateLimitError, StatusError, TimeoutError } from "../errors.ts";
import type { Abortable } from "../http/http-client.ts";
import type { Admission } from "../pacing/call-queue.ts";

/** The parts of an attempt that a transport uses. */
export interface AttemptContext extends Abortable {
  /** The clock for dates in response headers. */
  readonly clock: Clock;
  /** Headers that this call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends one of several requests as soon as the limits allow it; the attempt's own time does not count that wait. */
  inTurn?<TValue>(signal: AbortSignal, send: () => Promise<TValue>): Promise<TValue>;
}

/** How one attempt may end before its answer. */
interface AttemptLimits {
  /** The caller's own signal; its reason is thrown unchanged. */
  readonly signal: AbortSignal | undefined;
  /** Time for the whole attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the error for when that time passes. */
  readonly createTimeoutError: () => Error;
}

/** Admits the requests of an attempt after its first one. */
interface TurnSource {
  waitForTurn(signal: AbortSignal): Promise<Admission>;
}

/** How a call goes on after a failed attempt. */
type Failure = "final" | "retryable" | "limit" | "stray";

/** One attempt, as a transport sees it, with the pacer's grant for each request that it sends. */
export class Attempt implements AttemptContext {
  readonly clock: Clock;
  readonly headers: AttemptContext["headers"];
  readonly #listeners: ((reason: unknown) => void)[] = [];
  #controller: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;
  readonly #own: Admission;
  readonly #others: TurnSource;
  #takesTurns = false;
  #showsLimit = false;
  #waiting = 0;
  #waitingSinceMs = 0;
  #waitedMs = 0;

  /** @param own - Admits its first request; `others` admits the rest. */
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

  /** Settles once the time limit or the signal ends it, even if `send` does not listen; leaves no timer. */
  run<TValue>(
    send: (context: AttemptContext) => Promise<TValue>,
    limits: AttemptLimits,
  ): Promise<TValue> {
    if (limits.signal?.aborted) return Promise.reject(limits.signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<TValue>();
    const fail = (reason: unknown) => {
      release();
      reject(reason);
    };
    const release = this.#limit(limits, (reason) => {
      fail(reason);
      this.abort(reason);
    });
    send(this).then((value) => {
      release();
      resolve(value);
    }, fail);
    return promise;
  }

  /** Calls `end` when the time is up or the caller aborts; the returned function stops that. */
  #limit(
    { signal, timeoutMs, createTimeoutError }: AttemptLimits,
    end: (reason: unknown) => void,
  ): () => void {
    const { clock } = this;
    const startedAtMs = clock.now();
    const onTime = () => {
      const leftMs = timeoutMs + this.#totalWaitedMs() - (clock.now() - startedAtMs);
      // A clock does not move by a picosecond: without rounding, it would be scheduled for ever.
      if (leftMs > 0) cancelTimeout = clock.schedule(wholeMicroseconds(leftMs), onTime);
      else end(createTimeoutError());
    };
    let cancelTimeout = clock.schedule(timeoutMs, onTime);
    const onAbort = () => end(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    return () => {
      cancelTimeout();
      signal?.removeEventListener("abort", onAbort);
    };
  }

  /** Made on demand: an `AbortController` costs a fifth of a call (benchmark: calls). */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController();
      this.#controller = controller;
      this.onAbort((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  onAbort(listener: (reason: unknown) => void): void {
    if (this.#aborted === null) this.#listeners.push(listener);
    else listener(this.#aborted.reason);
  }

  /** Ends the attempt and calls its listeners. */
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
      this.#showsLimit = endFailed(admission, error) === "limit" || this.#showsLimit;
      throw error;
    }
  }

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
      const waitedMs = this.#totalWaitedMs();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#waitedMs = waitedMs;
    }
  }

  #totalWaitedMs(): number {
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

function classifyFailure(error: unknown): "final" | "retryable" | "throttled" {
  if (!(error instanceof EvaluatorError) || !error.isRetryable) return "final";
  // If the probe of a pause times out, its cause is the refusal that began the pause.
  const refusal = error instanceof TimeoutError ? error.cause : error;
  const isThrottled =
    refusal instanceof RateLimitError || (refusal instanceof StatusError && refusal.status === 503);
  return isThrottled ? "throttled" : "retryable";
}

/** Returns the wait that the service asks for, in milliseconds, or null. */
export function retryAfterMsOf(error: unknown): number | null {
  return error instanceof StatusError ? error.retryAfterMs : null;
}

import type { Clock } from "../clock.ts";
import { EvaluatorError, RateLimitError, StatusError, TimeoutError } from "../errors.ts";
import type { Admission } from "../pacing/call-queue.ts";

/** How a call goes on after a failed attempt. */
export type Failure = "final" | "retryable" | "limit" | "stray";

/** The turns of an attempt that sends several requests: the pacer admits each of them. */
export class Turns {
  readonly #clock: Clock;
  readonly #others: { waitForTurn(signal: AbortSignal): Promise<Admission> };
  /** The admission of the first request, until it is taken. */
  #own: Admission | null;
  #showsLimit = false;
  #waiting = 0;
  #waitingSinceMs = 0;
  #waitedMs = 0;

  /** @param own - Admits the first request; `others` admits the rest. */
  constructor(
    clock: Clock,
    others: { waitForTurn(signal: AbortSignal): Promise<Admission> },
    own: Admission,
  ) {
    this.#clock = clock;
    this.#others = others;
    this.#own = own;
  }

  /** Sends one request as soon as the pacer admits it. */
  async take<TValue>(signal: AbortSignal, send: () => Promise<TValue>): Promise<TValue> {
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
    const own = this.#own;
    this.#own = null;
    if (own !== null) return own;
    if (this.#waiting === 0) this.#waitingSinceMs = this.#clock.now();
    this.#waiting += 1;
    try {
      return await this.#others.waitForTurn(signal);
    } finally {
      const { waitedMs } = this;
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#waitedMs = waitedMs;
    }
  }

  /** The time in which a request waited for its turn. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#waiting > 0 ? this.#clock.now() - this.#waitingSinceMs : 0);
  }

  /** Reports to the pacer that the attempt failed, unless it has sent several requests; returns how the call goes on. */
  failed(error: unknown): Failure {
    if (this.#own !== null) return endFailed(this.#own, error);
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

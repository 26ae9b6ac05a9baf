import { EvaluatorError, recordAttempts, StatusError, TimeoutError } from "../errors.ts";
import {
  type Admission,
  OutOfPatience,
  type Patience,
  type WaitLimit,
} from "../pacing/call-queue.ts";
import type { Pacer } from "../pacing/pacer.ts";
import {
  Attempt,
  type AttemptContext,
  type AttemptLimits,
  retryAfterMsOf,
  runAttempt,
  sleep,
  type TurnSource,
} from "./attempt.ts";
import type { Hooks } from "../hooks.ts";
import { type Clock, describeWait } from "../clock.ts";
import { retryDelayMs } from "../pacing/pause.ts";
import { RetryCount, type RetryLimits } from "./retry-count.ts";

/** How often, how long and at whose pace to try. */
export interface RetryPolicy extends RetryLimits {
  /** Makes a call fail early instead of waiting. */
  readonly waitLimit?: WaitLimit;
  /** Time over all attempts and waits, in milliseconds; infinite for none. */
  readonly deadlineMs: number;
  /** Time for each attempt, headers and body, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** Whether an attempt that runs out of time may be charged for. @default true */
  readonly maybeBilled?: boolean;
  /** The caller's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers that the call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pacer: Pacer;
  readonly hooks: Hooks | null;
  readonly clock: Clock;
  /** A number from 0 to 1 at each call. */
  readonly random: () => number;
}

/** What one attempt gave. */
export interface AttemptResult<TValue> {
  readonly value: TValue;
  /** The HTTP status, or null when there was none. */
  readonly status: number | null;
  /** Input tokens the service counted. */
  readonly tokensUsed: number;
}

/**
 * Makes attempts until one succeeds, fails for good, or time or retries run out; throws the last
 * error. After a refusal that shows a limit the call waits with all others, else by itself.
 *
 * @param tokens - Estimated input tokens of one attempt.
 */
export function withRetries<TValue>(
  send: (context: AttemptContext) => Promise<AttemptResult<TValue>>,
  policy: RetryPolicy,
  tokens: number,
): Promise<{ value: TValue; attempts: number }> {
  return new RetriedCall(policy, tokens).run(send);
}

/** One call, from its first attempt to its last. */
class RetriedCall implements TurnSource {
  readonly #policy: RetryPolicy;
  readonly #tokens: number;
  readonly #deadlineAtMs: number;
  /** The number of the attempt that is made or waited for, from 1. */
  #attempts = 1;
  readonly #retries: RetryCount;
  /** Until when the call waits for a pause or a retry, from its first wait on. */
  #patienceEndsAtMs: number | null = null;

  constructor(policy: RetryPolicy, tokens: number) {
    this.#policy = policy;
    this.#tokens = tokens;
    this.#deadlineAtMs = policy.clock.now() + policy.deadlineMs;
    this.#retries = new RetryCount(policy);
  }

  async run<TValue>(
    send: (context: AttemptContext) => Promise<AttemptResult<TValue>>,
  ): Promise<{ value: TValue; attempts: number }> {
    const policy = this.#policy;
    const { clock, signal, pacer, answered } = policy;
    for (let lastError: EvaluatorError | null = null; ; this.#attempts += 1) {
      const admission =
        pacer.admitNow(this.#tokens) ?? (await this.#waitForAttempt(signal, lastError));
      const startedAtMs = clock.now();
      const attempt = new Attempt(policy, admission, this);
      try {
        const limits = this.#attemptLimits(startedAtMs, admission.probes ?? null);
        const { value, status, tokensUsed } = await runAttempt(send, attempt, limits);
        attempt.succeeded(tokensUsed);
        if (answered !== undefined) answered.count += 1;
        if (policy.hooks !== null) this.#report({ startedAtMs, status, error: null });
        return { value, attempts: this.#attempts };
      } catch (error) {
        const failure = attempt.failed(error);
        signal?.throwIfAborted();
        if (!(error instanceof EvaluatorError)) throw error;
        const status = error instanceof StatusError ? error.status : null;
        this.#report({ startedAtMs, status, error });
        if (!this.#retries.allows(failure)) return giveUp(error, { attempts: this.#attempts });
        lastError = error;
        if (failure !== "limit") await this.#backOff(error, failure === "stray");
      }
    }
  }

  /** Calls the hook for an attempt that ended, where there is one. */
  #report(ended: {
    startedAtMs: number;
    status: number | null;
    error: EvaluatorError | null;
  }): void {
    const { hooks, clock } = this.#policy;
    if (!hooks?.onAttempt) return;
    const { startedAtMs, ...event } = ended;
    const durationMs = clock.now() - startedAtMs;
    hooks.onAttempt({ attempt: this.#attempts, ...event, durationMs });
  }

  async waitForTurn(signal: AbortSignal | undefined): Promise<Admission> {
    const { deadlineMs, pacer, hooks } = this.#policy;
    const onWait = (delayMs: number | null) =>
      hooks?.onWait?.({ attempt: this.#attempts, reason: "rate-limit", delayMs });
    try {
      return await pacer.admit({
        tokens: this.#tokens,
        retries: this.#retries.used,
        signal,
        deadlineAtMs: this.#deadlineAtMs,
        deadlineMs,
        patience: this.#patience(),
        onWait,
      });
    } catch (error) {
      throw error instanceof OutOfPatience ? notSent(error.cause) : error;
    }
  }

  /** Until when the call waits, if a middleware limits that. */
  #patience(): Patience | undefined {
    const { waitLimit, clock } = this.#policy;
    if (waitLimit === undefined) return undefined;
    this.#patienceEndsAtMs ??= clock.now() + waitLimit.maxWaitMs;
    return { endsAtMs: this.#patienceEndsAtMs, isMeant: (cause) => waitLimit.isMeant(cause) };
  }

  async #waitForAttempt(
    signal: AbortSignal | undefined,
    lastError: EvaluatorError | null,
  ): Promise<Admission> {
    try {
      return await this.waitForTurn(signal);
    } catch (error) {
      if (lastError === null || !(error instanceof EvaluatorError)) throw error;
      const attempts = this.#attempts - 1;
      if (!(error instanceof TimeoutError)) return giveUp(error, { attempts });
      const note = deadlineNote(lastError, this.#policy);
      return giveUp(lastError, { attempts, note });
    }
  }

  #attemptLimits(startedAtMs: number, probes: EvaluatorError | null): AttemptLimits {
    const policy = this.#policy;
    const { signal, attemptTimeoutMs } = policy;
    const leftMs = this.#deadlineAtMs - startedAtMs;
    const patience = probes === null ? undefined : this.#patience();
    const patienceMs = (patience?.endsAtMs ?? Number.POSITIVE_INFINITY) - startedAtMs;
    if (
      probes !== null &&
      patience?.isMeant(probes) &&
      patienceMs < Math.min(leftMs, attemptTimeoutMs)
    ) {
      const timeoutMs = Math.max(1, patienceMs);
      return { signal, timeoutMs, createTimeoutError: () => probeTimeoutError(timeoutMs, probes) };
    }
    const limit = leftMs < attemptTimeoutMs ? "deadline" : "attempt";
    const createTimeoutError = () => timeoutError(limit, policy);
    return { signal, timeoutMs: Math.min(leftMs, attemptTimeoutMs), createTimeoutError };
  }

  async #backOff(error: EvaluatorError, isThrottled: boolean): Promise<void> {
    const { clock, signal, hooks, random } = this.#policy;
    const delayMs = retryDelayMs({
      retries: Math.max(0, this.#retries.used - 1),
      isThrottled,
      retryAfterMs: retryAfterMsOf(error),
      random: random(),
    });
    const attempts = this.#attempts;
    const patience = this.#patience();
    if (patience && clock.now() + delayMs > patience.endsAtMs && patience.isMeant(error)) {
      giveUp(error, { attempts });
    }
    if (clock.now() + delayMs >= this.#deadlineAtMs) {
      giveUp(error, { attempts, note: deadlineNote(error, this.#policy) });
    }
    hooks?.onWait?.({ attempt: attempts + 1, reason: "backoff", delayMs });
    await sleep(delayMs, { clock, signal });
  }
}

function timeoutError(limit: "attempt" | "deadline", policy: RetryPolicy): TimeoutError {
  const { maybeBilled = true } = policy;
  const option = limit === "attempt" ? "attemptTimeoutMs" : "deadlineMs";
  const timeoutMs = policy[option];
  const message = `No whole response arrived within ${timeoutMs} ms (${option}); raise that option or try again later.`;
  return new TimeoutError(message, { timeoutMs, limit, maybeBilled });
}

/** The error of a probe whose call does not wait for it any longer; `cause` began the pause. */
function probeTimeoutError(timeoutMs: number, cause: EvaluatorError): TimeoutError {
  const message = `The first request after a pause had no whole response within ${Math.ceil(timeoutMs)} ms (maxWaitMs).`;
  return new TimeoutError(message, { timeoutMs, limit: "attempt", maybeBilled: true, cause });
}

/** An error like the one that began a pause, for a call that was not sent because of it. */
function notSent(cause: EvaluatorError): EvaluatorError {
  if (!(cause instanceof StatusError)) return cause;
  const message = `It was not sent: the service refuses calls with status ${cause.status}. Ask it again later.`;
  return new (cause.constructor as typeof StatusError)(message, cause);
}

function giveUp(error: EvaluatorError, details: { attempts: number; note?: string }): never {
  recordAttempts(error, details.attempts, details.note);
  throw error;
}

function deadlineNote(error: EvaluatorError, { deadlineMs }: RetryPolicy): string {
  const retryAfterMs = retryAfterMsOf(error);
  const asked =
    retryAfterMs === null ? "" : ` The service asks to wait ${describeWait(retryAfterMs)}.`;
  return `${asked} The next attempt would start past the deadline of ${deadlineMs} ms (deadlineMs).`;
}

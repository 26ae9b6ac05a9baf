import { EvaluatorError, recordAttempts, StatusError, TimeoutError } from "../errors.ts";
import type { Admission } from "../pacing/call-queue.ts";
import type { Pacer } from "../pacing/pacer.ts";
import {
  Attempt,
  type AttemptContext,
  type AttemptLimits,
  retryAfterMsOf,
  runAttempt,
  sleep,
} from "./attempt.ts";
import type { Hooks } from "../hooks.ts";
import { type Clock, describeWait } from "../clock.ts";
import { retryDelayMs } from "../pacing/gate.ts";

/** How often, how long and at whose pace to try. */
export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Stray throttled answers of a call that do not count as retries. @default 0 */
  readonly freeRetries?: number;
  /**
   * The answers that the calls of a batch got: while they come, a limit is no failure of the call
   * that meets it, and does not count as a retry either.
   */
  readonly answered?: { count: number };
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
 * error. A throttled attempt waits at the pacer's gate with everyone else, any other on its own.
 *
 * @param tokens - Estimated input tokens of one attempt.
 */
export async function withRetries<TValue>(
  send: (context: AttemptContext) => Promise<AttemptResult<TValue>>,
  policy: RetryPolicy,
  tokens: number,
): Promise<{ value: TValue; attempts: number }> {
  const { clock, signal, pacer } = policy;
  const deadlineAtMs = clock.now() + policy.deadlineMs;
  let lastError: EvaluatorError | null = null;
  let free = policy.maxRetries > 0 ? (policy.freeRetries ?? 0) : 0;
  let retries = 0;
  for (let attempts = 1; ; attempts += 1) {
    const admission =
      pacer.admitNow(tokens) ??
      (await waitForTurn(policy, { tokens, attempts, retries, deadlineAtMs, lastError }));
    const startedAtMs = clock.now();
    const answeredBefore = policy.answered?.count ?? 0;
    const attempt = new Attempt(policy, admission, (own) => {
      const context = { tokens, attempts, retries, deadlineAtMs, lastError: null };
      return waitForTurn({ ...policy, signal: own }, context);
    });
    try {
      const limits = attemptLimits(policy, deadlineAtMs - startedAtMs);
      const { value, status, tokensUsed } = await runAttempt(send, attempt, limits);
      attempt.succeeded(tokensUsed);
      if (policy.answered !== undefined) policy.answered.count += 1;
      if (policy.hooks !== null)
        report(policy, { attempt: attempts, startedAtMs, status, error: null });
      return { value, attempts };
    } catch (error) {
      const failure = attempt.failed(error);
      signal?.throwIfAborted();
      if (!(error instanceof EvaluatorError)) throw error;
      const status = error instanceof StatusError ? error.status : null;
      report(policy, { attempt: attempts, startedAtMs, status, error });
      const isPaced = failure === "limit" && (policy.answered?.count ?? 0) > answeredBefore;
      if (failure === "stray" && free > 0) free -= 1;
      else if (!isPaced || policy.maxRetries === 0) retries += 1;
      if (failure === "final" || retries > policy.maxRetries) return giveUp(error, { attempts });
      lastError = error;
      if (failure === "limit") continue;
      const isThrottled = failure === "stray";
      await backOff(error, { attempts, retries, isThrottled, deadlineAtMs, policy });
    }
  }
}

/** Calls the hook for an attempt that ended, where there is one. */
function report(
  { hooks, clock }: RetryPolicy,
  ended: {
    attempt: number;
    startedAtMs: number;
    status: number | null;
    error: EvaluatorError | null;
  },
): void {
  if (!hooks?.onAttempt) return;
  const { startedAtMs, ...event } = ended;
  hooks.onAttempt({ ...event, durationMs: clock.now() - startedAtMs });
}

async function waitForTurn(
  policy: RetryPolicy,
  context: {
    tokens: number;
    attempts: number;
    retries: number;
    deadlineAtMs: number;
    lastError: EvaluatorError | null;
  },
): Promise<Admission> {
  const { tokens, attempts, retries, deadlineAtMs, lastError } = context;
  const { signal, deadlineMs, pacer } = policy;
  const onWait = (delayMs: number | null) =>
    policy.hooks?.onWait?.({ attempt: attempts, reason: "rate-limit", delayMs });
  try {
    return await pacer.admit({ tokens, retries, signal, deadlineAtMs, deadlineMs, onWait });
  } catch (error) {
    if (lastError === null || !(error instanceof TimeoutError)) throw error;
    return giveUp(lastError, { attempts: attempts - 1, note: deadlineNote(lastError, policy) });
  }
}

function attemptLimits(policy: RetryPolicy, leftMs: number): AttemptLimits {
  const { signal, attemptTimeoutMs } = policy;
  const limit = leftMs < attemptTimeoutMs ? "deadline" : "attempt";
  const createTimeoutError = () => timeoutError(limit, policy);
  return { signal, timeoutMs: Math.min(leftMs, attemptTimeoutMs), createTimeoutError };
}

function timeoutError(limit: "attempt" | "deadline", policy: RetryPolicy): TimeoutError {
  const { maybeBilled = true } = policy;
  const option = limit === "attempt" ? "attemptTimeoutMs" : "deadlineMs";
  const timeoutMs = policy[option];
  const message = `No whole response arrived within ${timeoutMs} ms (${option}); raise that option or try again later.`;
  return new TimeoutError(message, { timeoutMs, limit, maybeBilled });
}

async function backOff(
  error: EvaluatorError,
  context: {
    attempts: number;
    retries: number;
    isThrottled: boolean;
    deadlineAtMs: number;
    policy: RetryPolicy;
  },
): Promise<void> {
  const { attempts, retries, isThrottled, deadlineAtMs, policy } = context;
  const { clock, signal } = policy;
  const retryAfterMs = retryAfterMsOf(error);
  const random = policy.random();
  const delayMs = retryDelayMs({
    retries: Math.max(0, retries - 1),
    isThrottled,
    retryAfterMs,
    random,
  });
  if (clock.now() + delayMs >= deadlineAtMs) {
    giveUp(error, { attempts, note: deadlineNote(error, policy) });
  }
  policy.hooks?.onWait?.({ attempt: attempts + 1, reason: "backoff", delayMs });
  await sleep(delayMs, { clock, signal });
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

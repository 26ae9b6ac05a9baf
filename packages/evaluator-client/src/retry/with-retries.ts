import { EvaluatorError, recordAttempts, StatusError, TimeoutError } from "../errors.ts";
import { classifyFailure } from "./classify-failure.ts";
import type { Clock } from "./clock.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { runAttempt } from "./run-attempt.ts";
import { sleep } from "./sleep.ts";

/** How often, how long and on whose word to try. */
export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Time over all attempts and waits, in milliseconds. */
  readonly deadlineMs: number;
  /** Time for each attempt, headers and body, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** The caller's own signal. */
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
  /** A number from 0 to 1 at each call. */
  readonly random: () => number;
}

/** Attempts until one succeeds, fails for good, or time or retries run out; throws the last error. */
export async function withRetries<TValue>(
  attempt: (signal: AbortSignal) => Promise<TValue>,
  policy: RetryPolicy,
): Promise<{ value: TValue; attempts: number }> {
  const deadlineAt = policy.clock.now() + policy.deadlineMs;
  for (let attempts = 1; ; attempts += 1) {
    policy.signal?.throwIfAborted();
    const leftMs = deadlineAt - policy.clock.now();
    try {
      return { value: await runAttempt(attempt, attemptLimits(policy, leftMs)), attempts };
    } catch (error) {
      policy.signal?.throwIfAborted();
      if (!(error instanceof EvaluatorError)) throw error;
      const next = nextStep(error, { attempts, leftMs: deadlineAt - policy.clock.now(), policy });
      if (next.giveUp) {
        recordAttempts(error, attempts, next.note);
        throw error;
      }
      await sleep(next.delayMs, policy);
    }
  }
}

function attemptLimits({ clock, signal, attemptTimeoutMs, deadlineMs }: RetryPolicy, left: number) {
  const limit = left < attemptTimeoutMs ? "deadline" : "attempt";
  const createTimeoutError = () => timeoutError(limit, { attemptTimeoutMs, deadlineMs });
  return { clock, signal, timeoutMs: Math.min(left, attemptTimeoutMs), createTimeoutError };
}

function timeoutError(
  limit: "attempt" | "deadline",
  limits: { attemptTimeoutMs: number; deadlineMs: number },
): TimeoutError {
  const option = limit === "attempt" ? "attemptTimeoutMs" : "deadlineMs";
  const timeoutMs = limits[option];
  const message = `No whole response arrived within ${timeoutMs} ms (${option}); raise that option or try again later.`;
  return new TimeoutError(message, { timeoutMs, limit, maybeBilled: true });
}

type NextStep = { giveUp: false; delayMs: number } | { giveUp: true; note?: string };

function nextStep(
  error: EvaluatorError,
  { attempts, leftMs, policy }: { attempts: number; leftMs: number; policy: RetryPolicy },
): NextStep {
  const failure = classifyFailure(error);
  if (failure === "final" || attempts > policy.maxRetries) return { giveUp: true };
  const retryAfterMs = error instanceof StatusError ? error.retryAfterMs : null;
  const delayMs = retryDelayMs({
    retries: attempts - 1,
    isThrottled: failure === "throttled",
    retryAfterMs,
    random: policy.random(),
  });
  if (delayMs < leftMs) return { giveUp: false, delayMs };
  const asked = retryAfterMs === null ? "" : ` The service asks to wait ${retryAfterMs} ms.`;
  const note = `${asked} The next attempt would start past the deadline of ${policy.deadlineMs} ms (deadlineMs).`;
  return { giveUp: true, note };
}

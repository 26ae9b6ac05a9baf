import type { EvaluatorRuntime } from "../clock.ts";
import { EvaluatorError, RateLimitError, StatusError, TimeoutError } from "../errors.ts";
import type { CallLimits } from "../evaluator-options.ts";
import type { Hooks } from "../logger.ts";
import type { Admission, WaitLimit } from "../pacing/call-queue.ts";
import type { Pacer } from "../pacing/pacer.ts";

/** How often, how long and at which pace to try. */
export interface RetryPolicy extends Readonly<Required<CallLimits & EvaluatorRuntime>> {
  /** Refusals (429, 503) that do not count as retries while the service answers other calls. @default 0 */
  readonly freeRetries?: number;
  /** The number of answers to the calls of a batch; each call adds its own. */
  readonly answered?: { count: number };
  /** Makes a call fail early instead of waiting. */
  readonly waitLimit?: WaitLimit;
  /** Whether an attempt that runs out of time may be charged for. @default true */
  readonly maybeBilled?: boolean;
  /** The caller's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers that the call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pacer: Pacer;
  readonly hooks: Hooks | null;
}

/** How a call goes on after a failed attempt. */
export type Failure = "final" | "retryable" | "limit" | "stray";

/** Reports to the pacer that a request failed; returns how the call goes on. */
export function endFailed(admission: Admission, error: unknown): Failure {
  const failure = classifyFailure(error);
  if (failure === "throttled") {
    return admission.throttled(retryAfterMsOf(error), error as EvaluatorError);
  }
  admission.ended();
  return failure;
}

/** Returns what a failure means for the call, before the pacer has decided about a refusal. */
export function classifyFailure(error: unknown): "final" | "retryable" | "throttled" {
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

/** Counts the retries of a call. */
export class RetryCount {
  readonly #policy: RetryPolicy;
  /** Retries used so far, without the free ones. */
  used = 0;
  #free: number;
  /** The refusals among the used ones since another call was answered. */
  #refusals = 0;
  #answeredBefore: number;

  constructor(policy: RetryPolicy, answeredBefore: number) {
    this.#policy = policy;
    this.#free = policy.maxRetries > 0 ? (policy.freeRetries ?? 0) : 0;
    this.#answeredBefore = answeredBefore;
  }

  /** Counts a failed attempt; returns whether the call may be tried again. */
  allows(failure: Failure): boolean {
    const isRefusal = failure === "limit" || failure === "stray";
    const answered = this.#policy.answered?.count ?? 0;
    const isAnswered = answered > this.#answeredBefore;
    this.#answeredBefore = answered;
    if (isRefusal && isAnswered) this.#forgiveRefusals();
    if (this.#free > 0 && (failure === "stray" || (isRefusal && isAnswered))) this.#free -= 1;
    else {
      this.used += 1;
      if (isRefusal) this.#refusals += 1;
    }
    return failure !== "final" && this.used <= this.#policy.maxRetries;
  }

  /** The first calls of a batch are refused together, before any can be answered. */
  #forgiveRefusals(): void {
    const forgiven = Math.min(this.#free, this.#refusals);
    this.#free -= forgiven;
    this.used -= forgiven;
    this.#refusals = 0;
  }
}

/** Returns the error of an attempt that ran out of time. */
export function timeoutError(
  option: "attemptTimeoutMs" | "deadlineMs",
  { [option]: timeoutMs, maybeBilled = true }: RetryPolicy,
): TimeoutError {
  const limit = option === "deadlineMs" ? "deadline" : "attempt";
  const message = `No whole response arrived within ${timeoutMs} ms (${option}); raise that option or try again later.`;
  return new TimeoutError(message, { timeoutMs, limit, maybeBilled });
}

/** The error of a probe if its call cannot wait any longer; `cause` began the pause. */
export function probeTimeoutError(timeoutMs: number, cause: EvaluatorError): TimeoutError {
  const message = `The first request after a pause had no whole response within ${Math.ceil(timeoutMs)} ms (maxWaitMs).`;
  return new TimeoutError(message, { timeoutMs, limit: "attempt", maybeBilled: true, cause });
}

/** Throws the last error of a call, with its attempts and the reason why no further one is made. */
export function giveUp(error: EvaluatorError, attempts: number, note = ""): never {
  Object.assign(error, { attempts });
  const counted = attempts > 1 ? ` This was after ${attempts} attempts` : "";
  const message = `${error.message}${note}${counted}`;
  // V8 froze the message into the stack when the error was made.
  if (error.stack !== undefined) error.stack = error.stack.replace(error.message, () => message);
  error.message = message;
  throw error;
}

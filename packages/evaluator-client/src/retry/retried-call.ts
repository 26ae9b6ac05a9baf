import { type Clock, describeWait, sleep } from "../clock.ts";
import { EvaluatorError, StatusError, TimeoutError } from "../errors.ts";
import type { Hooks } from "../logger.ts";
import {
  type Admission,
  type Patience,
  retryDelayMs,
  type WaitLimit,
} from "../pacing/call-queue.ts";
import type { Pacer } from "../pacing/pacer.ts";
import { Attempt, type AttemptContext, retryAfterMsOf } from "./attempt.ts";

/** How often, how long and at which pace to try. */
export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Refusals (429, 503) that do not count as retries while the service answers other calls. @default 0 */
  readonly freeRetries?: number;
  /** The number of answers to the calls of a batch; each call adds its own. */
  readonly answered?: { count: number };
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
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

type Send<TValue> = (context: AttemptContext) => Promise<{
  readonly value: TValue;
  /** The HTTP status, or null if there was none. */
  readonly status: number | null;
  /** Input tokens that the service counted. */
  readonly tokensUsed: number;
}>;

/** One call, from its first attempt to its last. */
export class RetriedCall {
  readonly #policy: RetryPolicy;
  readonly #tokens: number;
  readonly #deadlineAtMs: number;
  readonly #answeredBefore: number;
  /** The number of the current or next attempt, from 1. */
  #attempts = 1;
  /** Made on the first failure. */
  #retries: RetryCount | null = null;
  /** The end of all waits for a pause or a retry, from the first wait on. */
  #patienceEndsAtMs: number | null = null;

  /** @param tokens - Estimated input tokens of one attempt. */
  constructor(policy: RetryPolicy, tokens: number) {
    this.#policy = policy;
    this.#tokens = tokens;
    this.#deadlineAtMs = policy.clock.now() + policy.deadlineMs;
    this.#answeredBefore = policy.answered?.count ?? 0;
  }

  /** Makes attempts until one succeeds, fails for good, or time or retries run out; throws the last error. */
  async run<TValue>(send: Send<TValue>): Promise<{ value: TValue; attempts: number }> {
    const policy = this.#policy;
    const { clock, signal, pacer, answered } = policy;
    for (let lastError: EvaluatorError | null = null; ; this.#attempts += 1) {
      const admission =
        pacer.admitNow(this.#tokens) ?? (await this.#waitForAttempt(signal, lastError));
      const startedAtMs = clock.now();
      const attempt = new Attempt(policy, admission, this);
      try {
        const limits = this.#attemptLimits(startedAtMs, admission.probes ?? null);
        const { value, status, tokensUsed } = await attempt.run(send, limits);
        attempt.succeeded(tokensUsed);
        if (answered !== undefined) answered.count += 1;
        if (policy.hooks !== null) this.#report(startedAtMs, status, null);
        return { value, attempts: this.#attempts };
      } catch (error) {
        const failure = attempt.failed(error);
        signal?.throwIfAborted();
        if (!(error instanceof EvaluatorError)) throw error;
        this.#report(startedAtMs, error instanceof StatusError ? error.status : null, error);
        this.#retries ??= new RetryCount(policy, this.#answeredBefore);
        if (!this.#retries.allows(failure)) giveUp(error, this.#attempts);
        lastError = error;
        if (failure !== "limit") await this.#backOff(error, failure === "stray");
      }
    }
  }

  #report(startedAtMs: number, status: number | null, error: EvaluatorError | null): void {
    const { hooks, clock } = this.#policy;
    const durationMs = clock.now() - startedAtMs;
    hooks?.onAttempt?.({ attempt: this.#attempts, status, error, durationMs });
  }

  waitForTurn(signal: AbortSignal | undefined): Promise<Admission> {
    const { deadlineMs, pacer, hooks } = this.#policy;
    const onWait = (delayMs: number | null) =>
      hooks?.onWait?.({ attempt: this.#attempts, reason: "rate-limit", delayMs });
    return pacer.admit({
      tokens: this.#tokens,
      retries: this.#retries?.used ?? 0,
      signal,
      deadlineAtMs: this.#deadlineAtMs,
      deadlineMs,
      patience: this.#patience(),
      onWait,
    });
  }

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
      if (!(error instanceof TimeoutError)) giveUp(error, attempts);
      return giveUp(lastError, attempts, this.#deadlineNote(lastError));
    }
  }

  #attemptLimits(startedAtMs: number, probes: EvaluatorError | null) {
    const { signal, attemptTimeoutMs } = this.#policy;
    const leftMs = this.#deadlineAtMs - startedAtMs;
    const timeoutMs = Math.min(leftMs, attemptTimeoutMs);
    const patience = probes === null ? undefined : this.#patience();
    if (probes !== null && patience?.isMeant(probes)) {
      const patienceMs = Math.max(1, patience.endsAtMs - startedAtMs);
      if (patience.endsAtMs - startedAtMs < timeoutMs) {
        const createTimeoutError = () => probeTimeoutError(patienceMs, probes);
        return { signal, timeoutMs: patienceMs, createTimeoutError };
      }
    }
    const option = leftMs < attemptTimeoutMs ? "deadlineMs" : "attemptTimeoutMs";
    return { signal, timeoutMs, createTimeoutError: () => timeoutError(option, this.#policy) };
  }

  async #backOff(error: EvaluatorError, isThrottled: boolean): Promise<void> {
    const { clock, signal, hooks, random } = this.#policy;
    const retries = Math.max(0, (this.#retries?.used ?? 0) - 1);
    const retryAfterMs = retryAfterMsOf(error);
    const delayMs = retryDelayMs({ retries, isThrottled, retryAfterMs, random: random() });
    const attempts = this.#attempts;
    const endsAtMs = clock.now() + delayMs;
    const patience = this.#patience();
    if (patience && endsAtMs > patience.endsAtMs && patience.isMeant(error))
      giveUp(error, attempts);
    if (endsAtMs >= this.#deadlineAtMs) giveUp(error, attempts, this.#deadlineNote(error));
    hooks?.onWait?.({ attempt: attempts + 1, reason: "backoff", delayMs });
    await sleep(delayMs, { clock, signal });
  }

  #deadlineNote(error: EvaluatorError): string {
    const retryAfterMs = retryAfterMsOf(error);
    const asked =
      retryAfterMs === null ? "" : ` The service asks to wait ${describeWait(retryAfterMs)}.`;
    return `${asked} The next attempt would start past the deadline of ${this.#policy.deadlineMs} ms (deadlineMs).`;
  }
}

/** Counts the retries of a call. */
class RetryCount {
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
  allows(failure: ReturnType<Attempt["failed"]>): boolean {
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

function timeoutError(
  option: "attemptTimeoutMs" | "deadlineMs",
  { [option]: timeoutMs, maybeBilled = true }: RetryPolicy,
): TimeoutError {
  const limit = option === "deadlineMs" ? "deadline" : "attempt";
  const message = `No whole response arrived within ${timeoutMs} ms (${option}); raise that option or try again later.`;
  return new TimeoutError(message, { timeoutMs, limit, maybeBilled });
}

/** The error of a probe if its call cannot wait any longer; `cause` began the pause. */
function probeTimeoutError(timeoutMs: number, cause: EvaluatorError): TimeoutError {
  const message = `The first request after a pause had no whole response within ${Math.ceil(timeoutMs)} ms (maxWaitMs).`;
  return new TimeoutError(message, { timeoutMs, limit: "attempt", maybeBilled: true, cause });
}

/** Throws the last error of a call, with its attempts and the reason why no further one is made. */
function giveUp(error: EvaluatorError, attempts: number, note = ""): never {
  Object.assign(error, { attempts });
  const counted = attempts > 1 ? ` This was after ${attempts} attempts` : "";
  const message = `${error.message}${note}${counted}`;
  // V8 froze the message into the stack when the error was made.
  if (error.stack !== undefined) error.stack = error.stack.replace(error.message, () => message);
  error.message = message;
  throw error;
}

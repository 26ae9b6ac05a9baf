import type { Clock } from "../clock.ts";
import { EvaluatorError, StatusError, TimeoutError } from "../errors.ts";
import type { Admission, Patience } from "../pacing/call-queue.ts";
import type { AttemptContext } from "../transports/transport.ts";
import { classifyFailure, endFailed } from "./classify-failure.ts";
import { Retries, type RetryPolicy } from "./retry-policy.ts";

type Send<TValue> = (context: AttemptContext) => Promise<{
  readonly value: TValue;
  readonly status: number | null;
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
  #retries: Retries | null = null;
  /** The end of all waits for a pause or a retry, from the first wait on. */
  #patienceEndsAtMs: number | null = null;

  /** @param tokenEstimate - Estimated input tokens of one attempt. */
  constructor(policy: RetryPolicy, tokenEstimate: number) {
    this.#policy = policy;
    this.#tokens = tokenEstimate;
    this.#deadlineAtMs = policy.deadlineAtMs ?? policy.clock.now() + policy.deadlineMs;
    this.#answeredBefore = policy.answered?.count ?? 0;
  }

  /** Makes attempts until one succeeds, fails for good, or time or retries run out; throws the last error. */
  async run<TValue>(send: Send<TValue>): Promise<{ value: TValue; attempts: number }> {
    const policy = this.#policy;
    const { clock, signal, pacer, answered: answeredParts } = policy;
    for (; ; this.#attempts += 1) {
      const isUnchecked = policy.beforeAttempt === undefined;
      const immediateAdmission = isUnchecked ? pacer.admitNow(this.#tokens) : null;
      const admission = immediateAdmission ?? (await this.#waitForAttempt(signal));
      const startedAtMs = clock.now();
      const attempt = new Attempt(policy, admission, this);
      try {
        const limits = this.#attemptLimits(startedAtMs, admission.probes ?? null);
        const { value, status, tokensUsed } = await attempt.run(send, limits);
        attempt.succeeded(tokensUsed);
        if (answeredParts !== undefined) answeredParts.count += 1;
        if (policy.hooks !== null) this.#reportAttempt(startedAtMs, status, null);
        return { value, attempts: this.#attempts };
      } catch (error) {
        const failure = attempt.failed(error);
        signal?.throwIfAborted();
        if (!(error instanceof EvaluatorError)) throw error;
        this.#reportAttempt(startedAtMs, error instanceof StatusError ? error.status : null, error);
        const call = { deadlineAtMs: this.#deadlineAtMs, answeredBefore: this.#answeredBefore };
        this.#retries ??= new Retries(policy, call);
        this.#retries.count(error, failure);
        if (failure === "limit") continue;
        await this.#retries.backOff(error, failure === "stray", this.#patience());
      }
    }
  }

  #reportAttempt(startedAtMs: number, status: number | null, error: EvaluatorError | null): void {
    const { hooks, clock } = this.#policy;
    const durationMs = clock.now() - startedAtMs;
    hooks?.onAttempt?.({ attempt: this.#attempts, status, error, durationMs });
  }

  waitForTurn(signal: AbortSignal | undefined): Promise<Admission> {
    const { deadlineMs, pacer, hooks } = this.#policy;
    const onTurnWait = (delayMs: number | null) =>
      hooks?.onWait?.({ attempt: this.#attempts, reason: "rate-limit", delayMs });
    return pacer.admit({
      tokens: this.#tokens,
      retries: this.#retries?.usedRetries ?? 0,
      signal,
      deadlineAtMs: this.#deadlineAtMs,
      deadlineMs,
      patience: this.#patience(),
      onWait: onTurnWait,
    });
  }

  #patience(): Patience | undefined {
    const { waitLimit, clock } = this.#policy;
    if (waitLimit === undefined) return undefined;
    this.#patienceEndsAtMs ??= clock.now() + waitLimit.maxWaitMs;
    return { endsAtMs: this.#patienceEndsAtMs, isMeant: (cause) => waitLimit.isMeant(cause) };
  }

  async #waitForAttempt(signal: AbortSignal | undefined) {
    try {
      await this.#checkBeforeAttempt(signal);
      return this.#policy.pacer.admitNow(this.#tokens) ?? (await this.waitForTurn(signal));
    } catch (error) {
      if (this.#retries === null || !(error instanceof EvaluatorError)) throw error;
      return this.#retries.giveUpWaiting(error);
    }
  }

  // Before the turn and the time of an attempt: a check that waits for other calls holds none of them back.
  async #checkBeforeAttempt(signal: AbortSignal | undefined): Promise<void> {
    const { beforeAttempt, lostAttempts, clock } = this.#policy;
    if (beforeAttempt === undefined) return;
    await beforeAttempt(lostAttempts?.attempts ?? 0);
    signal?.throwIfAborted();
    if (clock.now() >= this.#deadlineAtMs) throw timeoutError("deadlineMs", this.#policy, false);
  }

  #attemptLimits(startedAtMs: number, probes: EvaluatorError | null) {
    const { signal, attemptTimeoutMs } = this.#policy;
    const leftMs = this.#deadlineAtMs - startedAtMs;
    const timeoutMs = Math.min(leftMs, attemptTimeoutMs);
    const patience = probes === null ? undefined : this.#patience();
    const patienceMs = (patience?.endsAtMs ?? Number.POSITIVE_INFINITY) - startedAtMs;
    if (probes !== null && patienceMs < timeoutMs && patience?.isMeant(probes)) {
      const leastMs = Math.max(1, patienceMs);
      const createTimeoutError = () => probeTimeoutError(leastMs, probes);
      return { signal, timeoutMs: leastMs, leftMs, createTimeoutError };
    }
    const createTimeoutError = (isLast: boolean, wasSent?: boolean) =>
      timeoutError(isLast ? "deadlineMs" : "attemptTimeoutMs", this.#policy, wasSent);
    return { signal, timeoutMs: attemptTimeoutMs, leftMs, createTimeoutError };
  }
}

/** Returns the error of an attempt or a call that ran out of time. */
export function timeoutError(
  option: "attemptTimeoutMs" | "deadlineMs",
  { [option]: timeoutMs, maybeBilled = true }: RetryPolicy,
  wasSent = true,
): TimeoutError {
  const limit = option === "deadlineMs" ? "deadline" : "attempt";
  const message = `No whole response arrived within ${timeoutMs} ms (${option}); raise that option or try again later.`;
  return new TimeoutError(message, { timeoutMs, limit, maybeBilled: maybeBilled && wasSent });
}

/** The error of a probe if its call cannot wait any longer; `cause` began the pause. */
function probeTimeoutError(timeoutMs: number, cause: EvaluatorError): TimeoutError {
  const message = `The first request after a pause had no whole response within ${Math.ceil(timeoutMs)} ms (maxWaitMs).`;
  return new TimeoutError(message, { timeoutMs, limit: "attempt", maybeBilled: true, cause });
}

interface AttemptLimits {
  readonly signal: AbortSignal | undefined;
  /** The time of the attempt, without its waits for further turns. */
  readonly timeoutMs: number;
  /** The time until the deadline, which those waits count for. */
  readonly leftMs: number;
  readonly createTimeoutError: (isLast: boolean, wasSent?: boolean) => Error;
}

/** One attempt, as a transport sees it, with the pacer's grant for its requests. */
export class Attempt implements AttemptContext {
  readonly clock: Clock;
  readonly headers: AttemptContext["headers"];
  readonly providerOptions: AttemptContext["providerOptions"];
  readonly #statuses: readonly number[] | undefined;
  wasSent?: boolean;
  readonly #listeners: ((reason: unknown) => void)[] = [];
  #controller: AbortController | null = null;
  #abortedParts: { readonly reason: unknown } | null = null;
  /** The admission of the first request; null once one of several requests has taken it. */
  #ownAdmission: Admission | null;
  readonly #otherTurns: Pick<RetriedCall, "waitForTurn">;
  #showsLimit = false;
  #waiting = 0;
  #waitingSinceMs = 0;
  #waitedMs = 0;

  /** @param ownAdmission - Admits its first request; `otherTurns` admits the rest. */
  constructor(
    policy: Pick<AttemptContext, "clock" | "headers"> &
      Pick<RetryPolicy, "retry" | "providerOptions">,
    ownAdmission: Admission,
    otherTurns: Pick<RetriedCall, "waitForTurn">,
  ) {
    this.clock = policy.clock;
    this.headers = policy.headers;
    this.providerOptions = policy.providerOptions;
    this.#statuses = policy.retry?.statuses;
    this.#ownAdmission = ownAdmission;
    this.#otherTurns = otherTurns;
  }

  /** Settles once the time limit or the signal ends it, even if `send` does not listen; leaves no timer. */
  run<TValue>(send: (context: AttemptContext) => Promise<TValue>, limits: AttemptLimits) {
    if (limits.signal?.aborted) return Promise.reject(limits.signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<TValue>();
    const failAttempt = (abortReason: unknown) => {
      release();
      reject(abortReason);
    };
    const release = this.#limitAttempt(limits, (reason) => {
      failAttempt(reason);
      this.abort(reason);
    });
    send(this).then((value) => {
      release();
      resolve(value);
    }, failAttempt);
    return promise;
  }

  /** Calls `endAttempt` when the time is up or the caller aborts; the returned function stops that. */
  #limitAttempt(limits: AttemptLimits, endAttempt: (reason: unknown) => void) {
    const { clock } = this;
    const { signal, timeoutMs, leftMs } = limits;
    const startedAtMs = clock.now();
    const onTimeLimit = () => {
      const ownLimitMs = timeoutMs + this.#turnsMs();
      const remainingMs = Math.min(ownLimitMs, leftMs) - (clock.now() - startedAtMs);
      if (remainingMs > 0) cancelTimeout = clock.schedule(remainingMs, onTimeLimit);
      else endAttempt(limits.createTimeoutError(leftMs < ownLimitMs, this.wasSent));
    };
    let cancelTimeout = clock.schedule(Math.min(timeoutMs, leftMs), onTimeLimit);
    const onAbort = () => endAttempt(signal?.reason);
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

  onAbort(listener: (abortReason: unknown) => void): void {
    if (this.#abortedParts === null) this.#listeners.push(listener);
    else listener(this.#abortedParts.reason);
  }

  abort(abortReason: unknown): void {
    this.#abortedParts = { reason: abortReason };
    for (const listener of this.#listeners) listener(abortReason);
  }

  async inTurn<TValue>(signal: AbortSignal, send: () => Promise<TValue>): Promise<TValue> {
    const admission = await this.#nextAdmission(signal);
    try {
      const value = await send();
      admission.succeeded(null);
      return value;
    } catch (error) {
      const failure = endFailed(admission, error, this.#statuses);
      this.#showsLimit = failure === "limit" || this.#showsLimit;
      throw error;
    }
  }

  async #nextAdmission(signal: AbortSignal): Promise<Admission> {
    const currentAdmission = this.#ownAdmission;
    this.#ownAdmission = null;
    if (currentAdmission !== null) return currentAdmission;
    if (this.#waiting === 0) this.#waitingSinceMs = this.clock.now();
    this.#waiting += 1;
    try {
      return await this.#otherTurns.waitForTurn(signal);
    } finally {
      const turnsMs = this.#turnsMs();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#waitedMs = turnsMs;
    }
  }

  /** Returns the time in which a request waited for its turn. */
  #turnsMs(): number {
    return this.#waitedMs + (this.#waiting > 0 ? this.clock.now() - this.#waitingSinceMs : 0);
  }

  /** Reports to the pacer that the attempt gave its answer. */
  succeeded(tokensUsed: number): void {
    this.#ownAdmission?.succeeded(tokensUsed);
  }

  /** Reports to the pacer that an attempt of one request failed; returns how the call goes on. */
  failed(error: unknown) {
    if (this.#ownAdmission !== null) return endFailed(this.#ownAdmission, error, this.#statuses);
    const failure = classifyFailure(error, this.#statuses);
    if (failure !== "throttled") return failure;
    return this.#showsLimit ? "limit" : "stray";
  }
}

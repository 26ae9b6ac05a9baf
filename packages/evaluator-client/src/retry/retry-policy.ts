import type { Defined } from "../options.ts";
import { describeWait, type EvaluatorRuntime, sleep } from "../clock.ts";
import { ConnectionError, type EvaluatorError, StatusError, TimeoutError } from "../errors.ts";
import type { CallLimits, RetryOptions } from "../evaluator-options.ts";
import type { Hooks } from "../logger.ts";
import { type Patience, retryDelayMs, type WaitLimit } from "../pacing/call-queue.ts";
import type { Pacer } from "../pacing/pacer.ts";
import type { ProviderOptions } from "../transports/provider-options.ts";

/** How often, how long and at which pace to try. */
export interface RetryPolicy extends Readonly<
  Defined<CallLimits & Pick<EvaluatorRuntime, "clock" | "random">>
> {
  /** Refusals (429, 503, 529) that do not count as retries while the service answers other calls. @default 0 */
  readonly freeRetries?: number;
  /** The number of answers to the calls of a batch; each call adds its own. */
  readonly answered?: { count: number };
  /** Counts the attempts that may be charged for without an answer. */
  readonly lostAttempts?: { attempts: number };
  /** Runs before each attempt; an error of it ends the call. */
  readonly beforeAttempt?: (
    lostAttempts: number,
    usdPerMillionTokens?: number,
    mostTokens?: number,
  ) => Promise<void> | void;
  /** Which failures are tried again, and when. */
  readonly retry?: RetryOptions;
  /** Options of the call for the service. */
  readonly providerOptions?: ProviderOptions | undefined;
  /** Makes a call fail early instead of waiting. */
  readonly waitLimit?: WaitLimit;
  /** Whether an attempt that runs out of time may be charged for. @default true */
  readonly maybeBilled?: boolean;
  /** When the call must end, in monotonic milliseconds. @default `deadlineMs` after its first attempt begins */
  readonly deadlineAtMs?: number;
  /** The caller's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers that the call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pacer: Pacer;
  readonly hooks: Hooks | null;
}

/** How a call goes on after a failed attempt. */
type Failure = "final" | "retryable" | "limit" | "stray";

/** The retries of a call: how many it may make, and when it gives up instead. */
export class Retries {
  readonly #retryPolicy: RetryPolicy;
  readonly #deadlineAtMs: number;
  /** Retries used so far, without the free ones. */
  usedRetries = 0;
  #freeRetries: number;
  /** The refusals among the used ones since another call was answered. */
  #refusals = 0;
  #answeredBefore: number;
  #attempts = 0;
  #lastError: EvaluatorError | null = null;

  constructor(policy: RetryPolicy, call: { deadlineAtMs: number; answeredBefore: number }) {
    this.#retryPolicy = policy;
    this.#deadlineAtMs = call.deadlineAtMs;
    this.#freeRetries = policy.maxRetries > 0 ? (policy.freeRetries ?? 0) : 0;
    this.#answeredBefore = call.answeredBefore;
  }

  /** Counts a failed attempt. @throws its error if the call may not be tried again */
  count(error: EvaluatorError, failure: Failure): void {
    const { lostAttempts } = this.#retryPolicy;
    if (lostAttempts !== undefined && error instanceof ConnectionError && error.maybeBilled)
      lostAttempts.attempts += 1;
    this.#lastError = error;
    this.#attempts += 1;
    if (!this.#allowsRetry(failure)) giveUp(error, this.#attempts);
  }

  #allowsRetry(failure: Failure): boolean {
    const isRefusal = failure === "limit" || failure === "stray";
    const answeredCount = this.#retryPolicy.answered?.count ?? 0;
    const isAnswered = answeredCount > this.#answeredBefore;
    this.#answeredBefore = answeredCount;
    if (isRefusal && isAnswered) this.#forgiveRefusals();
    if (this.#freeRetries > 0 && (failure === "stray" || (isRefusal && isAnswered)))
      this.#freeRetries -= 1;
    else {
      this.usedRetries += 1;
      if (isRefusal) this.#refusals += 1;
    }
    return failure !== "final" && this.usedRetries <= this.#retryPolicy.maxRetries;
  }

  /** The first calls of a batch are refused together, before any can be answered. */
  #forgiveRefusals(): void {
    const forgiven = Math.min(this.#freeRetries, this.#refusals);
    this.#freeRetries -= forgiven;
    this.usedRetries -= forgiven;
    this.#refusals = 0;
  }

  /** Waits before the next attempt. @throws the last error if that attempt would start too late */
  async backOff(error: EvaluatorError, isThrottled: boolean, patience: Patience | undefined) {
    const { clock, signal, hooks, random } = this.#retryPolicy;
    const retries = Math.max(0, this.usedRetries - 1);
    const retryAfterMs = findRetryAfterMs(error);
    const { initialDelayMs, maxDelayMs } = this.#retryPolicy.retry ?? {};
    const delayMs = retryDelayMs({
      retries,
      isThrottled,
      retryAfterMs,
      random: random(),
      initialDelayMs,
      maxDelayMs,
    });
    const attempts = this.#attempts;
    const endsAtMs = clock.now() + delayMs;
    if (patience && endsAtMs > patience.endsAtMs && patience.isMeant(error))
      giveUp(error, attempts, waitNote(error));
    if (endsAtMs >= this.#deadlineAtMs) giveUp(error, attempts, this.#deadlineNote(error));
    hooks?.onWait?.({ attempt: attempts + 1, reason: "backoff", delayMs });
    await sleep(delayMs, { clock, signal });
  }

  /** Throws after a wait for the pacer failed: the last error if time ran out, else the error of the wait. */
  giveUpWaiting(error: EvaluatorError): never {
    const lastError = error instanceof TimeoutError ? this.#lastError : null;
    if (lastError === null) return giveUp(error, this.#attempts);
    return giveUp(lastError, this.#attempts, this.#deadlineNote(lastError));
  }

  #deadlineNote(error: EvaluatorError): string {
    return `${waitNote(error)} The next attempt would start past the deadline of ${this.#retryPolicy.deadlineMs} ms (deadlineMs).`;
  }
}

function waitNote(error: EvaluatorError): string {
  const retryAfterMs = findRetryAfterMs(error);
  return retryAfterMs === null ? "" : ` The service asks to wait ${describeWait(retryAfterMs)}.`;
}

/** Returns the wait that the service asks for, in milliseconds, or null. */
export function findRetryAfterMs(error: unknown): number | null {
  return error instanceof StatusError ? error.retryAfterMs : null;
}

/** Throws the last error of a call, with its attempts and the reason why no further one is made. */
function giveUp(error: EvaluatorError, attempts: number, note = ""): never {
  Object.assign(error, { attempts });
  const countedText = attempts > 1 ? ` This was after ${attempts} attempts.` : "";
  const message = `${error.message}${note}${countedText}`;
  // V8 froze the message into the stack when the error was made.
  if (error.stack !== undefined) error.stack = error.stack.replace(error.message, () => message);
  error.message = message;
  throw error;
}

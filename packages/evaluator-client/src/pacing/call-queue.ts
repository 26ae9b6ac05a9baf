import { type Clock, describeWait } from "../clock.ts";
import { type EvaluatorError, StatusError, TimeoutError } from "../errors.ts";

/** How long a call waits before it fails. */
export interface WaitLimit {
  /** The longest time that the call waits for a pause of the service and for retries, in milliseconds. */
  readonly maxWaitMs: number;
  /** Whether the call may fail early with this error, which caused the wait. */
  isMeant(error: EvaluatorError): boolean;
}

/** Until when a call waits for a pause to end, and for which errors it then fails. */
export interface Patience extends Pick<WaitLimit, "isMeant"> {
  /** Monotonic time in milliseconds. */
  readonly endsAtMs: number;
}

/** A call that asks to be sent. */
export interface PacedCall {
  /** Estimated input tokens. */
  readonly tokens: number;
  /** Retries made so far; after a pause, the call with the most left tries first. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
  /** Monotonic time at which the call gives up; infinite for never. */
  readonly deadlineAtMs: number;
  /** The whole deadline, for messages, in milliseconds. */
  readonly deadlineMs: number;
  /** Ends the wait for a pause before the deadline does. @default none */
  readonly patience?: Patience | undefined;
  /** Called when the call has to wait: for how long, in milliseconds, or null when that is open. */
  onWait?(delayMs: number | null): void;
}

/** A grant to send one request; exactly one of its methods is called when the request ends. */
export interface Admission {
  /** The error that began the pause which this request is to end, if it is the probe after one. */
  readonly probes?: EvaluatorError | null;
  /** An answer came; null if its tokens are unknown. */
  succeeded(tokensUsed: number | null): void;
  /** The service refused it (429, 503, 529): "limit" if all calls now wait, "stray" if only this one is to wait. */
  throttled(retryAfterMs: number | null, cause?: EvaluatorError): "limit" | "stray";
  /** It ended in any other way. */
  ended(): void;
}

interface Retry {
  readonly retries: number;
  readonly isThrottled: boolean;
  /** The wait that the service asks for, or null. */
  readonly retryAfterMs: number | null;
  /** A number from 0 to 1. */
  readonly random: number;
  /** The longest first delay, in milliseconds; after a refusal four times as long. @default 250 */
  readonly initialDelayMs?: number | undefined;
  /** The longest delay of all, in milliseconds. @default 8000 */
  readonly maxDelayMs?: number | undefined;
}

type Refusal = Pick<Retry, "retryAfterMs" | "random"> & { readonly cause: EvaluatorError | null };

/** Refusals in a row that pause every call. */
// With three, 10 % of strays pause a service without a limit.
export const IN_A_ROW = 4;

/** A time in which no call is sent, after refusals (429, 503, 529). Each further refusal makes it longer. */
export class Pause {
  cause: EvaluatorError | null = null;
  opensAtMs = Number.NEGATIVE_INFINITY;
  /** Refusals in a row. */
  refusals = 0;

  /** Returns how long the pause lasts at least, in milliseconds. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.opensAtMs - nowMs);
  }

  /** Returns when a call with a `WaitLimit` may expect the end: never, if the first call after the pause was refused. */
  endsAtMs(nowMs: number): number {
    return this.refusals > 1 ? Number.POSITIVE_INFINITY : Math.max(this.opensAtMs, nowMs);
  }

  /** Counts a refusal with its error; returns how long the pause has to last, in milliseconds. */
  addRefusal({ cause, ...refusal }: Refusal): number {
    const retries = this.refusals;
    this.refusals += 1;
    this.cause = cause;
    return retryDelayMs({ ...refusal, retries, isThrottled: true });
  }

  extendTo(untilMs: number): void {
    this.opensAtMs = Math.max(this.opensAtMs, untilMs);
  }
}

// Chosen, not measured: a first retry that no user notices.
const BASE_MS = 250;
// With half of it, a bucket of 200 a second refuses 2.7 % of the requests instead of 1.4 %.
const TIMES_THROTTLED = 4;
// With twice as much, a call may wait twice as long, and no limit is used better.
const LONGEST_DELAY_MS = 8000;

/** Returns the delay before the next attempt, in milliseconds. */
export function retryDelayMs(retry: Retry): number {
  const { retries, isThrottled, retryAfterMs, random } = retry;
  const { initialDelayMs = BASE_MS, maxDelayMs = LONGEST_DELAY_MS } = retry;
  if (retryAfterMs !== null) return retryAfterMs + random * Math.min(1000, retryAfterMs / 10);
  const firstDelayMs = isThrottled ? TIMES_THROTTLED * initialDelayMs : initialDelayMs;
  return random * Math.min(maxDelayMs, firstDelayMs * 2 ** retries);
}

interface Waiter extends PacedCall {
  admit(admission: Admission): void;
  reject(reason: unknown): void;
}

/** The calls that wait to be sent, in order; each also leaves it by its signal or deadline. */
export class CallQueue {
  readonly #waiters: Waiter[] = [];
  readonly waiters: readonly Waiter[] = this.#waiters;
  readonly #runtimeClock: Clock;
  readonly #currentPause: () => Pause | null;
  readonly #onChange: () => void;

  /** @param pause - Returns the pause in effect. @param onChange - A call joined, or left by itself. */
  constructor(clock: Clock, pause: () => Pause | null, onChange: () => void) {
    this.#runtimeClock = clock;
    this.#currentPause = pause;
    this.#onChange = onChange;
  }

  /** Adds a call at the end and waits until it leaves; no listener or timer remains. */
  joinQueue(pacedCall: PacedCall, delayMs: number | null): Promise<Admission> {
    const admission = this.#enqueue(pacedCall);
    pacedCall.onWait?.(delayMs);
    this.rejectLate();
    this.#onChange();
    return admission;
  }

  #enqueue(call: PacedCall): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { signal } = call;
      const giveUp = (rejectionReason: unknown) => {
        this.leaveQueue(waiter).reject(rejectionReason);
        this.#onChange();
      };
      const onAbort = () => giveUp(signal?.reason);
      const cancelDeadline = this.#at(call.deadlineAtMs, () => giveUp(pastDeadline(call, null)));
      const cancelPatience = this.#at(call.patience?.endsAtMs, () => this.rejectLate());
      const released =
        <TValue>(settlePromise: (settledValue: TValue) => void) =>
        (settledValue: TValue) => {
          cancelDeadline();
          cancelPatience();
          signal?.removeEventListener("abort", onAbort);
          settlePromise(settledValue);
        };
      const waiter: Waiter = { ...call, admit: released(resolve), reject: released(reject) };
      signal?.addEventListener("abort", onAbort);
      this.#waiters.push(waiter);
    });
  }

  /**
   * Returns the first call; while an answer is uncertain, the first with the most retries left, which loses the least.
   * After a pause, of these the one that waits longest for its answer: a probe that gives up shows nothing.
   */
  next(isCertain: boolean): Waiter {
    if (isCertain) return this.#waiters[0] as Waiter;
    const isProbe = this.#currentPause() !== null;
    const findEnd = ({ patience }: Waiter) => (isProbe ? (patience?.endsAtMs ?? Infinity) : 0);
    const isBetter = (call: Waiter, best: Waiter) =>
      call.retries < best.retries ||
      (call.retries === best.retries && findEnd(call) > findEnd(best));
    return this.#waiters.reduce((best, call) => (isBetter(call, best) ? call : best));
  }

  leaveQueue(waiter: Waiter): Waiter {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    return waiter;
  }

  /** Rejects the calls whose deadline or patience ends before the pause does. */
  rejectLate(): void {
    const pause = this.#currentPause();
    const nowMs = this.#runtimeClock.now();
    const closedForMs = pause?.leftMs(nowMs) ?? 0;
    for (const waiter of this.#waiters.filter((call) => nowMs + closedForMs >= call.deadlineAtMs)) {
      this.leaveQueue(waiter).reject(pastDeadline(waiter, closedForMs));
    }
    const latestCause = pause?.cause ?? null;
    if (pause === null || latestCause === null) return;
    const endsAtMs = pause.endsAtMs(nowMs);
    const isImpatient = ({ patience }: Waiter) =>
      patience !== undefined && endsAtMs >= patience.endsAtMs && patience.isMeant(latestCause);
    for (const waiter of this.#waiters.filter(isImpatient)) {
      this.leaveQueue(waiter).reject(notSent(latestCause));
    }
  }

  #at(atMs = Number.POSITIVE_INFINITY, callback: () => void): () => void {
    if (atMs === Number.POSITIVE_INFINITY) return () => undefined;
    return this.#runtimeClock.schedule(Math.max(0, atMs - this.#runtimeClock.now()), callback);
  }
}

/** The error of a call that was not sent in time, because of a pause of `closedForMs` if given. */
function pastDeadline({ deadlineMs }: PacedCall, closedForMs: number | null): TimeoutError {
  const reasonText =
    closedForMs === null
      ? "its turn under the rate limit did not come in time"
      : `after a rate limit, nothing is sent for another ${describeWait(closedForMs)}`;
  const message = `The deadline of ${deadlineMs} ms (deadlineMs) leaves no time for the request. It was not sent: ${reasonText}.`;
  const details = { timeoutMs: deadlineMs, maybeBilled: false, retryAfterMs: closedForMs };
  return new TimeoutError(message, { limit: "deadline", ...details });
}

/** An error like the one that began a pause, for a call that was not sent because of it. */
function notSent(cause: EvaluatorError): EvaluatorError {
  if (!(cause instanceof StatusError)) return cause;
  const message = `It was not sent: the service refuses calls with status ${cause.status}. Ask it again later.`;
  return new (cause.constructor as typeof StatusError)(message, cause);
}

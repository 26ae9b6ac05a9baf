import { TimeoutError } from "../errors.ts";

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
  /** Told when the call has to wait: for how long, in milliseconds, or null when that is open. */
  onWait?(delayMs: number | null): void;
}

/** Leave to send one request; exactly one of its methods is called when the request ends. */
export interface Admission {
  /** An answer came; null where it does not say how many tokens it took. */
  succeeded(tokensUsed: number | null): void;
  /**
   * The service said that it is over its limit; returns whether the pacer takes it for one and makes
   * everyone wait, or for a stray answer, after which only this call waits, by itself.
   */
  throttled(retryAfterMs: number | null): "limit" | "stray";
  /** It ended in any other way. */
  ended(): void;
}

/** The error of a call that was not sent in time, because of a pause of `closedForMs` if given. */
export function pastDeadline({ deadlineMs }: PacedCall, closedForMs: number | null): TimeoutError {
  const why =
    closedForMs === null
      ? "It was not sent: its turn under the rate limit did not come in time."
      : `It was not sent: after a rate limit, nothing is sent for another ${Math.ceil(closedForMs)} ms.`;
  const message = `The deadline of ${deadlineMs} ms (deadlineMs) leaves no time for the request. ${why}`;
  return new TimeoutError(message, {
    timeoutMs: deadlineMs,
    limit: "deadline",
    maybeBilled: false,
    retryAfterMs: closedForMs,
  });
}

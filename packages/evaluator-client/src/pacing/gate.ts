// A running sum of log likelihood ratios (CUSUM) between 30 % and 6 % of throttled answers, which
// falls to 0 and no further. With 5 % of stray ones it reaches the alarm once in 6,000 answers.
const PER_THROTTLED = Math.log(0.3 / 0.06);
const PER_SUCCESS = Math.log((1 - 0.06) / (1 - 0.3));
const ALARM = 4.8;
const ALARM_IN_NOISE = 8;

/**
 * Tells a limit from stray throttled answers: a limit throttles several calls together, or the first
 * ones after a pause; a stray answer stands alone among successes.
 */
export class LimitDetector {
  // Before the first success, one throttled answer is enough.
  #evidence = ALARM - PER_THROTTLED;

  /** Takes in successes. */
  succeeded(count = 1): void {
    this.#evidence = Math.max(0, this.#evidence - count * PER_SUCCESS);
  }

  /** Takes in a throttled answer; returns whether it shows a limit. */
  throttled(isNoisy: boolean): boolean {
    this.#evidence += PER_THROTTLED;
    return this.#evidence >= (isNoisy ? ALARM_IN_NOISE : ALARM);
  }

  /** A pause is over: of the next few answers, one throttled is enough. */
  reopened(isNoisy: boolean): void {
    this.#evidence = isNoisy ? 0 : ALARM - PER_THROTTLED + PER_SUCCESS;
  }
}

const BASE_MS = 250;
const THROTTLED_BASE_MS = 1000;
const CAP_MS = 8000;

/**
 * Opens and closes for everyone who shares a limit: a throttled answer closes it for a while, then
 * one call goes first, and only its success opens it again.
 */
export class Gate {
  #state: "open" | "paused" | "probing" = "open";
  #closedAtMs = Number.NEGATIVE_INFINITY;
  #opensAtMs = 0;
  #throttledInARow = 0;

  /** Whether calls pass freely. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Whether the next call to pass is the one that tries first. */
  get isPaused(): boolean {
    return this.#state === "paused";
  }

  /** Whether it closed after that time. */
  closedSince(ms: number): boolean {
    return ms < this.#closedAtMs;
  }

  /** How long until a call may pass, in milliseconds; infinite while another one tries first. */
  delayMs(nowMs: number): number {
    if (this.#state === "open") return 0;
    return this.#state === "probing"
      ? Number.POSITIVE_INFINITY
      : Math.max(0, this.#opensAtMs - nowMs);
  }

  /** How long the gate stays closed at the least, in milliseconds. */
  closedForMs(nowMs: number): number {
    return this.#state === "open" ? 0 : Math.max(0, this.#opensAtMs - nowMs);
  }

  /** A call passes; the first one after a pause tries for all. */
  pass(): void {
    if (this.#state === "paused") this.#state = "probing";
  }

  /** A throttled answer came to a call that passed at `passedAtMs`; true when it closed the gate. */
  close({ passedAtMs, nowMs, retryAfterMs, random }: ThrottledCall): boolean {
    this.#opensAtMs = Math.max(this.#opensAtMs, nowMs + (retryAfterMs ?? 0));
    // An answer to a call from before the pause is old news.
    if (this.closedSince(passedAtMs)) return false;
    const retries = this.#throttledInARow;
    const delayMs = retryDelayMs({ retries, isThrottled: true, retryAfterMs, random });
    this.#throttledInARow += 1;
    this.#closedAtMs = nowMs;
    this.#opensAtMs = Math.max(this.#opensAtMs, nowMs + delayMs);
    this.#state = "paused";
    return true;
  }

  /** The call that tried first succeeded. */
  open(): void {
    this.#state = "open";
    this.#throttledInARow = 0;
  }

  /** The call that tried first ended without an answer; the next one tries. */
  tryAgain(): void {
    this.#state = "paused";
  }
}

/** A call that was answered with a rate limit. */
export interface ThrottledCall {
  readonly passedAtMs: number;
  readonly nowMs: number;
  /** How long the service asks to wait, in milliseconds, or null. */
  readonly retryAfterMs: number | null;
  /** A number from 0 to 1. */
  readonly random: number;
}

/** What the delay before the next attempt depends on. */
export interface RetryDelayInput {
  /** Retries made so far: 0 before the first. */
  retries: number;
  /** Whether the service said that it is over a limit or overloaded. */
  isThrottled: boolean;
  /** How long the service asks to wait, in milliseconds, or null. */
  retryAfterMs: number | null;
  /** A number from 0 to 1. */
  random: number;
}

/** Returns the delay before the next attempt, in milliseconds. */
export function retryDelayMs({ retries, isThrottled, retryAfterMs, random }: RetryDelayInput) {
  if (retryAfterMs !== null) return retryAfterMs + random * Math.min(1000, retryAfterMs / 10);
  const baseMs = isThrottled ? THROTTLED_BASE_MS : BASE_MS;
  return random * Math.min(CAP_MS, baseMs * 2 ** retries);
}

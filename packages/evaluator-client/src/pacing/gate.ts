// A running sum of log likelihood ratios (CUSUM) between 30 % and 6 % of throttled answers, which
// falls to 0 and no further. Run over random answers, 5 % of stray ones reach the alarm once in
// 2,400, and that in noise once in 110,000. The shares are chosen: with half or twice of either,
// two to eleven of the runs of simulation.test.ts miss their bounds.
const PER_THROTTLED = Math.log(0.3 / 0.06);
const PER_SUCCESS = Math.log((1 - 0.06) / (1 - 0.3));
// Three throttled in a row. In that simulation, at half: a window of 20 a second is used to 83 %,
// instead of 98 %. Twice: 2.9 % are throttled once a limit falls, instead of 1.5 %.
const ALARM = 4.8;
// Half: a batch with 5 % of strays takes twice as long. Twice: no change.
const ALARM_IN_NOISE = 8;

/**
 * Distinguishes a limit from stray throttled answers: a limit throttles several calls together, or
 * the first ones after a pause; a stray answer stands alone among successes.
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

// Chosen, not measured: a first retry that nobody notices.
const BASE_MS = 250;
// Chosen, and halved and doubled in simulation.test.ts, for services that do not say when to come
// back. Half: 2.7 % of a bucket of 200 a second are throttled, instead of 1.4 %. Twice: a sliding
// window of it is used to 80 %, instead of 92 %.
const THROTTLED_BASE_MS = 1000;
// Half: 1.2 % of ten a minute are throttled, instead of 1.0 %. Twice: no worse, and a call may wait
// twice as long.
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

import type { EvaluatorError } from "../errors.ts";

/** A refusal (429, 503) that all calls wait after. */
export interface Refusal {
  readonly nowMs: number;
  /** How long the service asks to wait, in milliseconds, or null. */
  readonly retryAfterMs: number | null;
  /** A number from 0 to 1. */
  readonly random: number;
  /** The error of the refused call. */
  readonly cause: EvaluatorError | null;
}

/** Holds all calls back for a while; then one call is the probe, and only its success ends the pause. */
export class Pause {
  #state: "open" | "paused" | "probing" = "open";
  #beganAtMs = 0;
  #opensAtMs = 0;
  #refusals = 0;
  #cause: EvaluatorError | null = null;

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** The error that began the pause, or null while calls pass. */
  get cause(): EvaluatorError | null {
    return this.#cause;
  }

  /** How long until a call may pass, in milliseconds; infinite while the probe is in flight. */
  delayMs(nowMs: number): number {
    return this.#state === "probing" ? Number.POSITIVE_INFINITY : this.leftMs(nowMs);
  }

  /** How long the pause lasts at least, in milliseconds. */
  leftMs(nowMs: number): number {
    return this.#state === "open" ? 0 : Math.max(0, this.#opensAtMs - nowMs);
  }

  /** The earliest end of the pause as a call without patience sees it: never, after a failed probe. */
  endsAtMs(nowMs: number): number {
    return this.#refusals > 1 ? Number.POSITIVE_INFINITY : Math.max(this.#opensAtMs, nowMs);
  }

  /** Lets a call pass; returns whether it is the probe. */
  pass(): boolean {
    if (this.#state !== "paused") return false;
    this.#state = "probing";
    return true;
  }

  /** Begins the pause, or begins it again after the probe was refused. */
  begin({ nowMs, retryAfterMs, random, cause }: Refusal): void {
    if (this.#state === "open") this.#beganAtMs = nowMs;
    const delayMs = retryDelayMs({
      retries: this.#refusals,
      isThrottled: true,
      retryAfterMs,
      random,
    });
    this.#opensAtMs = Math.max(this.#opensAtMs, nowMs + delayMs);
    this.#refusals += 1;
    this.#state = "paused";
    this.#cause = cause;
  }

  /** Takes in the refusal of a call from before the pause, which may ask for more time. */
  extend({ nowMs, retryAfterMs }: Refusal): void {
    this.#opensAtMs = Math.max(this.#opensAtMs, nowMs + (retryAfterMs ?? 0));
  }

  /**
   * Ends the pause, since the probe succeeded; returns how long calls had to wait, in milliseconds:
   * not until the probe, which may come an hour later.
   */
  end(): number {
    this.#state = "open";
    this.#refusals = 0;
    this.#cause = null;
    return this.#opensAtMs - this.#beganAtMs;
  }

  /** The probe ended without an answer: the next call is the probe. */
  probeAgain(): void {
    this.#state = "paused";
  }
}

/** The refusals since the last success, by the order of sending: several in a row show a limit. */
export class RefusalRow {
  readonly #attempts = new Set<number>();

  /** Adds a refused attempt; returns how many in a row it is part of. */
  add(attempt: number): number {
    this.#attempts.add(attempt);
    let count = 1;
    for (let next = attempt + 1; this.#attempts.has(next); next += 1) count += 1;
    for (let next = attempt - 1; this.#attempts.has(next); next -= 1) count += 1;
    return count;
  }

  /** Drops the refusals of attempts that were sent before one that succeeded. */
  succeeded(attempt: number): void {
    // Every success passes here, and even an empty set makes an iterator.
    if (this.#attempts.size === 0) return;
    for (const refused of this.#attempts) if (refused < attempt) this.#attempts.delete(refused);
  }

  clear(): void {
    this.#attempts.clear();
  }
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

// Chosen, not measured: a first retry that no user notices.
const BASE_MS = 250;
// Half: 2.7 % of a bucket of 200 a second are refused instead of 1.4 %.
const THROTTLED_BASE_MS = 1000;
// Twice: a call may wait twice as long, and no limit is used better.
const CAP_MS = 8000;

/** Returns the delay before the next attempt, in milliseconds. */
export function retryDelayMs({ retries, isThrottled, retryAfterMs, random }: RetryDelayInput) {
  if (retryAfterMs !== null) return retryAfterMs + random * Math.min(1000, retryAfterMs / 10);
  const baseMs = isThrottled ? THROTTLED_BASE_MS : BASE_MS;
  return random * Math.min(CAP_MS, baseMs * 2 ** retries);
}

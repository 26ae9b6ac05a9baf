import type { VirtualTime } from "./virtual-time.ts";

/** The date at which each simulation begins. */
export const EPOCH_MS = Date.UTC(2026, 10, 21);

interface Delivery {
  callback: (() => void) | null;
}

/**
 * The clocks of one process, and its life: all that reaches the process passes through here, so that
 * it can freeze, be slow and die.
 */
export class ProcessClock {
  readonly time: VirtualTime;
  /** How far the date of its machine is off, in milliseconds. */
  offMs = 0;
  isDead = false;
  /** Whether it was ever frozen or slow, so that its own times cannot be kept. */
  wasDisturbed = false;
  readonly #startedAtMs: number;
  #frozenUntilMs = 0;
  #slow = { untilMs: 0, eventMs: 0 };
  /** When a slow process is done with the events so far. */
  #busyUntilMs = 0;
  readonly #onDeath: (() => void)[] = [];

  constructor(time: VirtualTime) {
    this.time = time;
    this.#startedAtMs = time.nowMs;
  }

  /** Monotonic time since its start in milliseconds. */
  now(): number {
    return this.time.nowMs - this.#startedAtMs;
  }

  /** Milliseconds since the epoch, as its machine has them. */
  epochNow(): number {
    return EPOCH_MS + this.time.nowMs + this.offMs;
  }

  /** The date and time of day of its machine. */
  today(): Date {
    return new Date(this.epochNow());
  }

  /** Calls back once after a delay, if the process lives then; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void {
    const delivery: Delivery = { callback };
    const cancel = this.time.schedule(delayMs, () => this.#deliver(delivery));
    return () => {
      delivery.callback = null;
      cancel();
    };
  }

  /** Resolves after a delay, if the process lives then. */
  async wait(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => this.schedule(delayMs, resolve));
  }

  /** Nothing reaches the process for so long; all of it does afterwards. */
  freeze(forMs: number): void {
    this.wasDisturbed = true;
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.time.nowMs + forMs);
  }

  /** For a while, each event takes so many milliseconds. */
  slow(forMs: number, eventMs: number): void {
    this.wasDisturbed = true;
    this.#slow = { untilMs: this.time.nowMs + forMs, eventMs };
  }

  /** Returns whether events may reach it late at a time up to now. */
  isLateAt(ms: number): boolean {
    return ms < Math.max(this.#slow.untilMs, this.#frozenUntilMs, this.#busyUntilMs);
  }

  /** Ends the process: nothing reaches it any more. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const listener of this.#onDeath) listener();
  }

  /** Calls back when the process is killed, as the system does that closes its connections. */
  onDeath(listener: () => void): void {
    this.#onDeath.push(listener);
  }

  #deliver(delivery: Delivery): void {
    if (this.isDead || delivery.callback === null) return;
    const { nowMs } = this.time;
    const freeAtMs = Math.max(this.#frozenUntilMs, this.#busyUntilMs);
    if (freeAtMs > nowMs) {
      this.time.schedule(freeAtMs - nowMs, () => this.#deliver(delivery));
      return;
    }
    if (nowMs < this.#slow.untilMs) this.#busyUntilMs = nowMs + this.#slow.eventMs;
    delivery.callback();
  }
}

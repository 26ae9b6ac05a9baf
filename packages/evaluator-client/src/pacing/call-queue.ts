import type { Clock } from "../clock.ts";
import { type Admission, type PacedCall, pastDeadline } from "./paced-call.ts";

/** A call in the line, and how its waiting ends. */
export interface Waiter extends PacedCall {
  admit(admission: Admission): void;
  refuse(reason: unknown): void;
}

/** The calls that wait to be sent, in order; each leaves it by its signal or deadline as well. */
export class CallQueue {
  readonly #waiters: Waiter[] = [];
  readonly #clock: Clock;
  readonly #onLeave: () => void;

  /** @param onLeave - Told when a call left by its signal or deadline. */
  constructor(clock: Clock, onLeave: () => void) {
    this.#clock = clock;
    this.#onLeave = onLeave;
  }

  /** How many calls wait. */
  get length(): number {
    return this.#waiters.length;
  }

  /** Joins at the end; gives what the waiting ends with, and leaves no listener or timer behind. */
  join(call: PacedCall): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { signal } = call;
      const giveUp = (reason: unknown) => {
        this.leave(waiter).refuse(reason);
        this.#onLeave();
      };
      const onAbort = () => giveUp(signal?.reason);
      const cancelDeadline = this.#atDeadline(call, () => giveUp(pastDeadline(call, null)));
      const release = () => {
        cancelDeadline();
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
        ...call,
        admit(admission) {
          release();
          resolve(admission);
        },
        refuse(reason) {
          release();
          reject(reason);
        },
      };
      signal?.addEventListener("abort", onAbort);
      this.#waiters.push(waiter);
    });
  }

  /** The first in line. */
  first(): Waiter | undefined {
    return this.#waiters[0];
  }

  /** Those from that place in line on. */
  from(index: number): readonly Waiter[] {
    return this.#waiters.slice(index);
  }

  /** The first among those with the most retries left. */
  freshest(): Waiter | undefined {
    return this.#waiters.reduce<Waiter | undefined>(
      (best, waiter) => (best === undefined || waiter.retries < best.retries ? waiter : best),
      undefined,
    );
  }

  /** Takes a call out of the line. */
  leave(waiter: Waiter): Waiter {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    return waiter;
  }

  /** Refuses those whose deadline passes while nothing is sent. */
  refuseHopeless(closedForMs: number): void {
    const opensAtMs = this.#clock.now() + closedForMs;
    for (const waiter of this.#waiters.filter((call) => opensAtMs >= call.deadlineAtMs)) {
      this.leave(waiter).refuse(pastDeadline(waiter, closedForMs));
    }
  }

  #atDeadline({ deadlineAtMs }: PacedCall, callback: () => void): () => void {
    if (deadlineAtMs === Number.POSITIVE_INFINITY) return () => undefined;
    return this.#clock.schedule(Math.max(0, deadlineAtMs - this.#clock.now()), callback);
  }
}

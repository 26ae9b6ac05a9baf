import type { FaultOf } from "./plan/fault.ts";
import type { ProcessClock } from "./time/process-clock.ts";
import type { Random } from "./time/random.ts";

type StoreFault = FaultOf<"store">;
type Span = Extract<StoreFault, { readonly forMs: number }>;

/** What happens to one call of a store. */
type Fate =
  | "done"
  | "lost-before"
  | "lost-after"
  | "away"
  | "silent"
  | { readonly delayMs: number };

/** The way to a store that is far away and may fail: so many milliseconds there and back, and the faults of the plan. */
export class StoreConnection {
  readonly #calls: { readonly fault: StoreFault; left: number }[];
  readonly #notifications: { readonly fault: StoreFault; left: number }[];
  readonly #spans: readonly Span[];
  readonly #slow: readonly Extract<StoreFault, { readonly delayMs: number }>[];
  /** When a call met a fault last. */
  metAtMs = 0;
  readonly #random: Random;
  readonly #latencyMs: number;
  /** How far the clock of the store is off, in milliseconds, at a time. */
  readonly offMs: (nowMs: number) => number;

  constructor(faults: readonly StoreFault[], random: Random) {
    this.#random = random;
    this.#latencyMs = random.magnitude(0.5, 40);
    const spans = faults.filter((fault) => "forMs" in fault);
    this.#spans = spans.filter(({ what }) => what !== "slow");
    this.#slow = spans.filter((fault) => fault.what === "slow");
    this.#calls = faults.flatMap((fault) => ("calls" in fault ? { fault, left: fault.calls } : []));
    this.#notifications = faults.flatMap((fault) =>
      fault.what === "lost-notify" ? [{ fault, left: fault.notifications }] : [],
    );
    const steps = faults.filter((fault) => fault.what === "clock");
    this.offMs = (nowMs) =>
      steps.filter(({ atMs }) => atMs <= nowMs).reduce((sum, { byMs }) => sum + byMs, 0);
  }

  /** Makes a call of the store for a process; `toError` makes the error of a lost connection. */
  async call<TResult>(
    clock: ProcessClock,
    call: () => Promise<TResult>,
    toError: () => Error,
  ): Promise<TResult> {
    const { time } = clock;
    // The store goes on with what reached it, also if the process dies.
    const halfMs = () => this.#latencyMs * this.#random.between(0.25, 0.75);
    await time.wait(halfMs());
    const fate = clock.isDead ? "silent" : this.#fate(time.nowMs);
    if (fate === "silent") return await new Promise(() => undefined);
    if (fate === "away" || fate === "lost-before") {
      await clock.wait(halfMs());
      throw toError();
    }
    try {
      const result = await call();
      await clock.wait(halfMs());
      if (typeof fate === "object") await clock.wait(fate.delayMs);
      if (fate !== "lost-after") return result;
    } catch (error) {
      await clock.wait(halfMs());
      throw error;
    }
    throw toError();
  }

  /** Counts a notification to one process; returns whether it arrives. */
  notifies(nowMs: number): boolean {
    // Who is cut off from the store never hears of it, as with NOTIFY.
    if (this.#spanAt(nowMs) !== undefined) return false;
    const lost = this.#notifications.find(({ fault, left }) => fault.atMs <= nowMs && left > 0);
    if (lost !== undefined) lost.left -= 1;
    return lost === undefined;
  }

  #spanAt(nowMs: number) {
    return this.#spans.find((fault) => isUnderWay(fault, nowMs));
  }

  #fate(nowMs: number): Fate {
    const span = this.#spanAt(nowMs);
    if (span !== undefined) return span.what === "silence" ? "silent" : "away";
    const slow = this.#slow.find((fault) => isUnderWay(fault, nowMs));
    if (slow !== undefined) return slow;
    const lost = this.#calls.find(({ fault, left }) => fault.atMs <= nowMs && left > 0);
    if (lost === undefined) return "done";
    lost.left -= 1;
    this.metAtMs = nowMs;
    return lost.fault.what === "lost-before" ? "lost-before" : "lost-after";
  }
}

function isUnderWay({ atMs, forMs }: Span, nowMs: number): boolean {
  return atMs <= nowMs && nowMs < atMs + forMs;
}

import type { Admission } from "../pacing/call-queue.ts";
import type { SharedPacerOptions } from "../pacing/leased-slots.ts";
import { type LimitStore, memoryLimits } from "../pacing/limit-store.ts";
import { sharedPacer } from "../pacing/shared-pacer.ts";
import { ManualClock } from "./manual-clock.ts";

/** 95 % of it is one request in 50 ms. */
export const limits = { requestsPerMinute: 1200 / 0.95 };

/** Pacers that share a store, and when they let calls go. */
export function sharing(changes: Partial<SharedPacerOptions> = {}) {
  const clock = new ManualClock();
  const store = memoryLimits({ clock });
  const sent: [name: string, atMs: number][] = [];
  const admissions = new Map<string, Admission>();
  const pacerOf = () => {
    const runtime = { clock, random: () => 1 };
    const pacer = sharedPacer({ store, key: "a", limits, ...changes }, runtime);
    const ask = (name: string, tokens = 1) => {
      const deadline = { deadlineAtMs: Infinity, deadlineMs: Infinity };
      return pacer.admit({ tokens, retries: 0, ...deadline }).then((admission) => {
        sent.push([name, Math.round(clock.now())]);
        admissions.set(name, admission);
      });
    };
    return { pacer, ask };
  };
  return { clock, store, sent, admissions, pacerOf };
}

/** A store that is down. */
export const broken: LimitStore = {
  read: () => Promise.reject(new Error("The store is down.")),
  swap: () => Promise.reject(new Error("The store is down.")),
  onPause: () => () => undefined,
};

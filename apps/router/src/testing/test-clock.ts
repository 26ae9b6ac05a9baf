import { setImmediate as settle } from "node:timers/promises";
import type { Clock } from "evaluator-client";

/** Creates a clock that stops until a test moves it. */
export function testClock() {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => nowMs,
    epochNow: () => Date.UTC(2026, 10, 24) + nowMs,
    schedule(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    clock,
    /** How many timers wait. */
    waiting: () => timers.size,
    /** Moves on, runs each timer at its time, and lets promises settle in between. */
    advance: async (ms: number): Promise<void> => {
      const endMs = nowMs + ms;
      for (;;) {
        for (let turn = 0; turn < 5; turn += 1) await settle();
        const [next] = [...timers].toSorted((a, b) => a.atMs - b.atMs);
        if (next === undefined || next.atMs > endMs) break;
        timers.delete(next);
        nowMs = next.atMs;
        next.callback();
      }
      nowMs = endMs;
    },
  };
}

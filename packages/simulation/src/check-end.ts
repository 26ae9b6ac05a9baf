import { endOf } from "./plan/fault.ts";
import { limitsOf } from "./plan/plan.ts";
import type { World } from "./world.ts";

// A run ends so long after the last fault, plus its remaining work at the limit.
const REST_MS = 600_000;
// The share of the limit that is used at least.
const LEAST_USED = 0.9;
// Each call also waits for the store or the disk.
const STORE_MS = 100;
const LOOK_MS = 1000;

/** A run, or the journal. */
interface Working {
  /** The work that is left, and how many calls one process makes at once. */
  readonly left: { readonly records: number; readonly concurrency: number };
  readonly faultMetAtMs: number;
}

/** Calls `onLate` at the time at which the whole simulation is over at the latest. */
export function scheduleEnd(world: World, all: readonly Working[], onLate: () => void): void {
  const { time, plan, endMs, service } = world;
  // Some faults meet the next requests, calls or operations, such as five requests that hang.
  const metAtMs = () => Math.max(service.faultMetAtMs, ...all.map((each) => each.faultMetAtMs));
  let fromMs = -1;
  let cancel: (() => void) | null = null;
  const look = () => {
    if (metAtMs() > fromMs) {
      cancel?.();
      fromMs = time.nowMs;
      cancel = time.schedule(REST_MS + workMs(world, all), onLate);
    }
    time.schedule(LOOK_MS, look);
  };
  time.schedule(Math.max(endMs, ...plan.faults.map(endOf)), look);
}

/** Returns how long the remaining work takes if calls use the limit, and the time of answers besides. */
function workMs({ plan }: World, all: readonly Working[]): number {
  const perSecond = limitsOf(plan).at(-1)?.perSecond ?? Infinity;
  const calls = all.reduce((sum, { left }) => sum + left.records, 0);
  const callMs = plan.service.latencyMs + STORE_MS;
  const waits = all.map(({ left }) => (left.records * callMs) / left.concurrency);
  return (calls * 1000) / (LEAST_USED * perSecond) + Math.max(0, ...waits);
}

import { PerformanceObserver } from "node:perf_hooks";
import process from "node:process";
import { runRound, type VerifiedCall } from "./run-round.ts";

/** Flags of a process whose young generation holds all that a measurement allocates. */
export const allocationFlags = [
  "--expose-gc",
  "--min-semi-space-size=256",
  "--max-semi-space-size=256",
];

/** What one call allocates, in bytes. */
export interface Allocation {
  /** On the heap of JavaScript. */
  readonly heapBytes: number;
  /** Beside it, mostly in buffers. */
  readonly externalBytes: number;
}

/**
 * Measures what a call allocates: the growth of the heap over many calls with no collection.
 *
 * @throws Error when the heap was collected meanwhile, so that the growth means nothing.
 */
export async function measureAllocation(call: VerifiedCall, calls: number): Promise<Allocation> {
  const options = { concurrency: 32, maxCalls: calls };
  await runRound(call, options);
  if (globalThis.gc === undefined) throw new Error("The process lacks the allocation flags.");
  globalThis.gc();
  let collections = 0;
  const observer = new PerformanceObserver((list) => (collections += list.getEntries().length));
  observer.observe({ entryTypes: ["gc"] });
  const before = process.memoryUsage();
  const round = await runRound(call, options);
  const after = process.memoryUsage();
  await new Promise((resolve) => setImmediate(resolve)); // the observer hears of collections late
  observer.disconnect();
  if (collections > 0) throw new Error("The heap was collected while it was measured.");
  return {
    heapBytes: (after.heapUsed - before.heapUsed) / round.calls,
    externalBytes: (after.external - before.external) / round.calls,
  };
}

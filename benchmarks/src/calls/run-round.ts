import { PerformanceObserver } from "node:perf_hooks";
import process from "node:process";

/** Makes one call and verifies its answer; no two get the same number in a round. */
type VerifiedCall = (number: number) => Promise<void>;

/** How long a round lasts, and how many calls are in flight. */
export interface RoundOptions {
  readonly concurrency: number;
  /** No call begins later than this many milliseconds after the start. @default no bound */
  readonly durationMs?: number;
  /** The most calls to make. @default no bound */
  readonly maxCalls?: number;
}

/** The cost of a round; every call in it was verified. */
export type Round = Awaited<ReturnType<typeof runRound>>;

const noBound = Number.POSITIVE_INFINITY;

/**
 * Calls again and again, until a time or a number is reached.
 *
 * @throws Error of the first call that fails.
 */
async function runRound(call: VerifiedCall, options: RoundOptions) {
  const { concurrency, durationMs = noBound, maxCalls = noBound } = options;
  let calls = 0;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const callUntilEnd = async () => {
    while (calls < maxCalls && performance.now() - startedAt < durationMs) {
      calls += 1;
      await call(calls);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, callUntilEnd));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { calls, wallMs: performance.now() - startedAt, cpuUs: user + system };
}

/** Returns the processor time of a call in a round, in microseconds. */
export function cpuUsPerCall({ cpuUs, calls }: Round): number {
  return cpuUs / calls;
}

/** Returns the rate of a round. */
export function callsPerSecond({ calls, wallMs }: Round): number {
  return (calls / wallMs) * 1000;
}

/** Returns the calls that a parent process sets up a target with and measures rounds of it. */
export function roundsOf<TSetUp>(open: (setUp: TSetUp) => Promise<VerifiedCall>) {
  let call = missingCall;
  return {
    async setUp(setUp: TSetUp): Promise<void> {
      call = await open(setUp);
    },
    run: (options: RoundOptions) => runRound(call, options),
    measureAllocation: (calls: number) => measureAllocation(call, calls),
  };
}

const missingCall: VerifiedCall = () => Promise.reject(new Error("No call is set up."));

/**
 * Returns the bytes that a call allocates, buffers included: the growth of the heap over many calls
 * without a collection.
 *
 * @throws Error if the heap was collected meanwhile.
 */
async function measureAllocation(call: VerifiedCall, calls: number): Promise<number> {
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
  const allocated = after.heapUsed + after.external - before.heapUsed - before.external;
  return allocated / round.calls;
}

import process from "node:process";

/** Makes one call and verifies its answer; no two get the same number in a round. */
export type VerifiedCall = (number: number) => Promise<void>;

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
export async function runRound(call: VerifiedCall, options: RoundOptions) {
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

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

/** What a round took; every call in it was verified. */
export interface Round {
  readonly calls: number;
  readonly wallMs: number;
  /** Processor time of the whole process, in microseconds: all threads, user and system. */
  readonly cpuUs: number;
}

const noBound = Number.POSITIVE_INFINITY;

/**
 * Calls again and again, until a time or a number is reached.
 *
 * @throws Error of the first call that fails.
 */
export async function runRound(call: VerifiedCall, options: RoundOptions): Promise<Round> {
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

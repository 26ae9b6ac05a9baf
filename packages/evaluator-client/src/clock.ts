import { checkOptions, optionsNamed, type Defined } from "./options.ts";

/** Time as this package sees it; tests pass their own. */
export interface Clock {
  /** Monotonic time in milliseconds, for limits and waits. */
  now(): number;
  /** Milliseconds since the epoch, for dates in headers only. */
  epochNow(): number;
  /** Calls back once after `delayMs`; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

// Node fires a timer for longer at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock; a delay of more than 24 days ends early. */
const systemClock: Clock = {
  now: () => performance.now(),
  epochNow: () => Date.now(),
  schedule(delayMs, callback) {
    // For a negative delay Node prints a warning.
    const timer = setTimeout(callback, Math.max(0, Math.min(delayMs, LONGEST_TIMER_MS)));
    return () => clearTimeout(timer);
  },
};

/** Time and chance as an evaluator sees them; tests pass their own. */
export interface EvaluatorRuntime {
  /** Gets no delay between 0 and 1 µs. @default the machine's own clock */
  clock?: Clock | undefined;
  /** Returns a number from 0 to 1. @default Math.random */
  random?: (() => number) | undefined;
  /** Returns an id that no other process has. @default crypto.randomUUID */
  newId?: (() => string) | undefined;
}

/** Returns a runtime with its defaults. @throws {ConfigurationError} if it has an unknown option. */
export function readRuntime(runtime: EvaluatorRuntime): Defined<EvaluatorRuntime> {
  checkOptions(optionsNamed("clock", "random", "newId"), runtime);
  const { clock, random = Math.random, newId = () => crypto.randomUUID() } = runtime;
  return { clock: clock ? withoutTinyDelays(clock) : systemClock, random, newId };
}

// A delay below the clock's resolution would be scheduled again and again, and simulated time not move.
const SHORTEST_DELAY_MS = 0.001;

/** Rounds delays above 0 up to a microsecond. */
function withoutTinyDelays(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    epochNow: () => clock.epochNow(),
    schedule: (delayMs, callback) =>
      clock.schedule(delayMs > 0 ? Math.max(SHORTEST_DELAY_MS, delayMs) : delayMs, callback),
  };
}

/** From two of a unit on, a time is given in it. */
const longUnits: [name: string, ms: number][] = [
  ["days", 86_400_000],
  ["hours", 3_600_000],
  ["minutes", 60_000],
];

/** Returns a time in a unit that a person reads: milliseconds up to 10 s, then whole ones, rounded up. */
export function describeWait(ms: number): string {
  if (ms <= 10_000) return `${Math.ceil(ms)} ms`;
  const [name, unitMs] = longUnits.find(([, longMs]) => ms >= 2 * longMs) ?? ["s", 1000];
  return `${Math.ceil(ms / unitMs)} ${name}`;
}

/** Waits `delayMs`, or rejects with the signal's reason as soon as it aborts; leaves no listener. */
export async function sleep(
  delayMs: number,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.schedule(delayMs, resolve);
  await untilAborted(promise, signal).finally(cancel);
}

/** Settles as the promise does, or rejects with the signal's reason as soon as it aborts; leaves no listener. */
export function untilAborted<TValue>(
  promise: Promise<TValue>,
  signal: AbortSignal | undefined,
): Promise<TValue> {
  if (signal === undefined) return promise;
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Returns the time since an instant of a clock in milliseconds, to the microsecond. */
export function elapsedMs(clock: Clock, sinceMs: number): number {
  return Math.round((clock.now() - sinceMs) * 1000) / 1000;
}

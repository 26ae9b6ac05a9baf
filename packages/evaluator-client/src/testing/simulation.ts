import { createEvaluator } from "../create-evaluator.ts";
import type { BatchLimits } from "../batch/run-batch.ts";
import { RateLimitError } from "../errors.ts";
import { type LimitStore, memoryLimits } from "../pacing/limit-store.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";
import { sharedPacer } from "../pacing/shared-pacer.ts";
import { sleep } from "../clock.ts";
import type { Transport } from "../transports/transport.ts";
import { countingTransport, scamRequest } from "./counting-transport.ts";
import {
  LimitedService,
  seededRandom,
  type ServiceLimit,
  type Throttled,
} from "./limited-service.ts";
import { ManualClock } from "./manual-clock.ts";
import { statusDetails } from "./status-details.ts";

// As short as may be, and without HTTP: what is simulated is time. Every answer is checked as always.
const request = scamRequest("A mail.");

function transportTo(ask: (item: number) => Promise<Throttled | null>): Transport {
  const answer = async ({ state }: { state: unknown }) => {
    const throttled = await ask(Number(state));
    if (throttled === null) return;
    throw new RateLimitError(
      "Too many.",
      statusDetails(429, { type: "rate_limit_exceeded", ...throttled }),
    );
  };
  return countingTransport({ answer }).transport;
}

/** How a simulated batch asks, and of whom. */
export interface BatchRun {
  readonly clock: ManualClock;
  readonly random: () => number;
  /** Answers an item, by its number from 0. */
  readonly ask: (item: number) => Promise<Throttled | null>;
  /** How many items there are, or when no more are asked. */
  readonly end: { readonly items: number } | { readonly atMs: number };
  readonly maxRetries?: number;
  readonly limits: BatchLimits;
}

/** Asks in one batch and in simulated time; returns what it has done. */
export async function simulateBatch({ clock, random, ask, end, limits, maxRetries = 2 }: BatchRun) {
  const transport = transportTo(ask);
  const evaluator = createEvaluator({ transport, maxRetries }, { clock, random });
  const isOver = (item: number) => ("items" in end ? item >= end.items : clock.now() >= end.atMs);
  const requests = function* () {
    for (let item = 0; !isOver(item); item += 1) yield { ...request, state: String(item) };
  };
  const batch = evaluator.evaluateMany(requests(), limits);
  await untilDone(clock, async () => {
    while (!(await batch.next()).done);
  });
  return batch.totals;
}

/** Asks all items at once by calls of their own; returns how long the last one takes. */
export async function simulateCalls(calls: number, limits: RateLimits, answerMs: number) {
  const clock = new ManualClock();
  const transport = transportTo(() => sleep(answerMs, { clock }).then(() => null));
  const evaluator = createEvaluator({ transport, limits }, { clock, random: seededRandom(1) });
  const asked = Array.from({ length: calls }, () => request);
  await untilDone(clock, () => Promise.all(asked.map((each) => evaluator.evaluate(each))));
  return clock.now();
}

/** How many processes share a limit, for how long, and how far away their store is. */
export interface SharedRun {
  readonly processes: number;
  readonly forMs: number;
  /** How long one answer of the store takes. */
  readonly storeMs: number;
  /** When the store cannot be reached, and how that shows. */
  readonly down?: {
    readonly fromMs: number;
    readonly untilMs: number;
    readonly isSilent?: boolean;
  };
  readonly whenStoreIsDown?: "own-share" | "closed";
  /** The share of the answers that are lost to a 429 for no reason. @default 0 */
  readonly strays?: number;
}

/** Asks endlessly in several processes that share a limit through a store, in simulated time. */
export async function simulateProcesses(limit: ServiceLimit, run: SharedRun) {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const service = new LimitedService(clock, random, limit);
  const { strays = 0 } = run;
  const transport = transportTo(async () => {
    const throttled = await service.ask();
    return throttled === null && random() < strays ? { retryAfterMs: 1000 } : throttled;
  });
  const store = distantStore(memoryLimits({ clock }), { clock, run });
  const limits = { requestsPerMinute: (limit.limit * 60_000) / limit.windowMs };
  const { whenStoreIsDown = "own-share" } = run;
  const leaving = new AbortController();
  const batches = Array.from({ length: run.processes }, () => {
    const shared = { store, key: "a-key", limits, whenStoreIsDown };
    const pacer = sharedPacer(shared, { clock, random });
    const evaluator = createEvaluator({ transport, pacer }, { clock, random });
    return evaluator.evaluateMany(endlessly(), { concurrency: 32, signal: leaving.signal });
  });
  const done = batches.map(async (batch) => {
    while (!(await batch.next()).done);
  });
  const until = async (ms: number) => {
    await clock.runUntil(() => clock.now() >= ms);
    return { answered: service.requests - service.throttled, allowed: service.allowed };
  };
  const before = await until(run.down?.fromMs ?? 0);
  const after = await until(run.down?.untilMs ?? 0);
  const { allowed } = await until(run.forMs);
  const succeeded = batches.map(({ totals }) => totals.succeeded);
  const failed = batches.reduce((sum, { totals }) => sum + totals.failed, 0);
  const { requests, throttled } = service;
  leaving.abort();
  await Promise.allSettled(done);
  return {
    failed,
    requests,
    throttled,
    leases: store.swaps,
    used: succeeded.reduce((sum, count) => sum + count, 0) / allowed,
    usedWhileDown: (after.answered - before.answered) / (after.allowed - before.allowed),
    hungriest: Math.max(...succeeded),
    slowest: Math.min(...succeeded),
  };
}

function* endlessly() {
  for (;;) yield request;
}

/** A distant store that locks the row from read to swap, and cannot be reached for a while. */
function distantStore(
  store: LimitStore,
  { clock, run }: { clock: ManualClock; run: SharedRun },
): LimitStore & { swaps: number } {
  const reach = async () => {
    await sleep(run.storeMs / 2, { clock });
    const { fromMs = Infinity, untilMs = Infinity, isSilent } = run.down ?? {};
    if (clock.now() < fromMs || clock.now() >= untilMs) return;
    if (isSilent) await new Promise(() => undefined);
    throw new Error("The store is down.");
  };
  const answer = async <TResult>(result: Promise<TResult>) => {
    const answered = await result;
    await sleep(run.storeMs / 2, { clock });
    return answered;
  };
  let unlocked = Promise.resolve();
  let unlock: (() => void) | null = null;
  return {
    swaps: 0,
    async read(key) {
      await reach();
      const before = unlocked;
      const lock = Promise.withResolvers<void>();
      unlocked = lock.promise;
      await before;
      unlock = lock.resolve;
      return await answer(store.read(key));
    },
    async swap(key, version, row) {
      await reach();
      const isWritten = store.swap(key, version, row);
      unlock?.();
      this.swaps += 1;
      return await answer(isWritten);
    },
    onPause: store.onPause.bind(store),
  };
}

async function untilDone(clock: ManualClock, run: () => Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  const done = run().finally(() => (state.isOver = true));
  await clock.runUntil(() => state.isOver);
  await done;
}

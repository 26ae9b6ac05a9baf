import { createEvaluator } from "../create-evaluator.ts";
import { RateLimitError } from "../errors.ts";
import { type LeaseRequest, type LimitStore, memoryLimits } from "../pacing/limit-store.ts";
import { sharedPacer } from "../pacing/shared-pacer.ts";
import { sleep } from "../retry/attempt.ts";
import type { Transport } from "../transports/transport.ts";
import { countingTransport, scamRequest } from "./counting-transport.ts";
import { LimitedService, seededRandom, type ServiceLimit } from "./limited-service.ts";
import { ManualClock } from "./manual-clock.ts";
import { statusDetails } from "./status-details.ts";

/** How much a simulated run asks, and with how many calls at once. */
export interface Load {
  readonly items: number;
  readonly concurrency: number;
  readonly seed?: number;
}

// As short as may be, and without HTTP: what is simulated is time. Every answer is checked as always.
const request = scamRequest("A mail.");

function transportTo(service: LimitedService): Transport {
  const answer = async () => {
    const throttled = await service.ask();
    if (throttled === null) return;
    const { retryAfterS } = throttled;
    const retryAfterMs = retryAfterS === null ? null : retryAfterS * 1000;
    throw new RateLimitError(
      "Too many.",
      statusDetails(429, { type: "rate_limit_exceeded", retryAfterMs }),
    );
  };
  return countingTransport({ answer }).transport;
}

/** Asks items of a service that limits, in one batch and in simulated time. */
export async function simulateBatch(limit: ServiceLimit, { items, concurrency, seed = 7 }: Load) {
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const service = new LimitedService(clock, random, limit);
  const transport = transportTo(service);
  const evaluator = createEvaluator({ transport }, { clock, random });
  const requests = Array.from({ length: items }, () => request);
  const batch = evaluator.evaluateMany(requests, { concurrency });
  await untilDone(clock, async () => {
    while (!(await batch.next()).done);
  });
  return { service, totals: batch.totals, elapsedMs: clock.now() };
}

/** Asks as many of the same service in a plain loop, in which each call retries by itself. */
export async function simulatePlainLoop(
  limit: ServiceLimit,
  { items, concurrency, seed = 7 }: Load,
) {
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const service = new LimitedService(clock, random, limit);
  let asked = 0;
  const work = async () => {
    for (; asked < items;) {
      asked += 1;
      for (let throttled = await service.ask(); throttled !== null;) {
        await sleep((throttled.retryAfterS ?? 0) * 1000, { clock });
        throttled = await service.ask();
      }
    }
  };
  await untilDone(clock, () => Promise.all(Array.from({ length: concurrency }, work)));
  return { service, elapsedMs: clock.now() };
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
}

/** Asks endlessly in several processes that share a limit through a store, in simulated time. */
export async function simulateProcesses(limit: ServiceLimit, run: SharedRun) {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const service = new LimitedService(clock, random, limit);
  const transport = transportTo(service);
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
    leases: store.leases,
    used: succeeded.reduce((sum, count) => sum + count, 0) / allowed,
    usedWhileDown: (after.answered - before.answered) / (after.allowed - before.allowed),
    hungriest: Math.max(...succeeded),
    slowest: Math.min(...succeeded),
  };
}

function* endlessly() {
  for (;;) yield request;
}

/** A store some way off, which cannot be reached for a while. */
function distantStore(store: LimitStore, { clock, run }: { clock: ManualClock; run: SharedRun }) {
  const reach = async () => {
    await sleep(run.storeMs / 2, { clock });
    const { fromMs = Infinity, untilMs = Infinity, isSilent } = run.down ?? {};
    if (clock.now() < fromMs || clock.now() >= untilMs) return;
    if (isSilent) await new Promise(() => undefined);
    throw new Error("The store is down.");
  };
  return {
    leases: 0,
    async lease(ask: LeaseRequest) {
      await reach();
      this.leases += 1;
      const lease = await store.lease(ask);
      await sleep(run.storeMs / 2, { clock });
      return lease;
    },
    async pause(key: string, ms: number) {
      await reach();
      await store.pause(key, ms);
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

import { expect, test } from "vitest";
import type { ServiceLimit } from "../testing/limited-service.ts";
import { simulateProcesses } from "../testing/simulation.ts";

const service: ServiceLimit = { limit: 20, windowMs: 1000, kind: "bucket" };
const minute = { forMs: 60_000, storeMs: 50 };

test.each([1, 2, 4, 8])("%i processes use one limit, in equal shares", async (processes) => {
  const run = await simulateProcesses(service, { ...minute, processes });
  expect(run).toMatchObject({ failed: 0, throttled: 0 });
  expect(run.used).toBeGreaterThan(0.94);
  expect(run.hungriest / run.slowest).toBeLessThan(1.05);
  // Ten round trips a second, however many there are.
  expect(run.leases / 60).toBeLessThan(10);
});

test.each([
  { processes: 2, isSilent: false },
  { processes: 8, isSilent: false },
  { processes: 8, isSilent: true },
])("$processes processes go on while the store is down (silent: $isSilent)", async (shared) => {
  const { processes, isSilent } = shared;
  const down = { fromMs: 20_000, untilMs: 24_000, isSilent };
  const run = await simulateProcesses(service, { forMs: 40_000, storeMs: 50, processes, down });
  expect(run).toMatchObject({ failed: 0, throttled: 0 });
  expect(run.used).toBeGreaterThan(0.9);
  expect(run.usedWhileDown).toBeGreaterThan(0.8);
});

test("no process sends while the store is down, if asked to", async () => {
  const down = { fromMs: 20_000, untilMs: 24_000 };
  const shared = {
    ...minute,
    forMs: 40_000,
    processes: 4,
    down,
    whenStoreIsDown: "closed",
  } as const;
  const run = await simulateProcesses(service, shared);
  expect(run).toMatchObject({ failed: 0, throttled: 0 });
  // What was leased before lasts for another half second.
  expect(run.usedWhileDown).toBeLessThan(0.15);
  expect(run.used).toBeGreaterThan(0.8);
});

test("processes that were given too high a limit find the lower one", async () => {
  const later = { fromMs: 0, limit: 14 };
  const run = await simulateProcesses({ ...service, later }, { ...minute, processes: 4 });
  expect(run.failed).toBe(0);
  expect(run.throttled / run.requests).toBeLessThan(0.1);
  expect(run.used).toBeGreaterThan(0.8);
});

test.each([
  { strays: 0.01, used: 0.92 },
  { strays: 0.05, used: 0.8 },
  { strays: 0.1, used: 0.65 },
])("$strays of stray 429s slow no process far below the limit", async ({ strays, used }) => {
  const run = await simulateProcesses(service, { ...minute, processes: 4, strays });
  expect(run.failed).toBe(0);
  expect(run.used).toBeGreaterThan(used);
});

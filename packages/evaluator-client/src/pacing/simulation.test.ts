import { expect, test } from "vitest";
import type { ServiceLimit } from "../testing/limited-service.ts";
import { simulateBatch, simulatePlainLoop } from "../testing/simulation.ts";

interface Scenario extends ServiceLimit {
  /** How many requests are asked. */
  readonly items: number;
  /** The share of the limit that is used at the least. */
  readonly used: number;
}

const aSecond = { limit: 20, windowMs: 1000, items: 2500 };
const aMinute = { limit: 10, windowMs: 60_000, items: 3500 };

// The calls throttled at the start are a share of all: where few are asked, that share is harder to
// keep. So each scenario asks as few as it can, and none fewer than shows it.
test.each<Scenario>([
  // Long enough for a rate that holds to be raised again, after 200 seconds.
  { ...aSecond, items: 5000, kind: "bucket", saysWhen: true, used: 0.95 },
  { ...aSecond, items: 4500, kind: "bucket", saysWhen: false, used: 0.95 },
  { ...aMinute, kind: "bucket", saysWhen: true, used: 0.95 },
  { ...aMinute, items: 5000, kind: "bucket", saysWhen: false, used: 0.95 },
  { ...aMinute, items: 5000, kind: "window", saysWhen: true, used: 0.95 },
  // A window of one second asks to wait a whole second, as long as the window itself.
  { ...aSecond, kind: "window", saysWhen: true, used: 0.9 },
  { ...aSecond, kind: "window", saysWhen: false, used: 0.9 },
  { ...aSecond, kind: "sliding", saysWhen: false, used: 0.9 },
  { ...aMinute, kind: "window", saysWhen: false, used: 0.9 },
  { ...aMinute, items: 2100, kind: "sliding", saysWhen: true, used: 0.9 },
  { ...aMinute, kind: "sliding", saysWhen: false, used: 0.9 },
  { ...aSecond, kind: "sliding", saysWhen: true, used: 0.9 },
])("loses nothing under $limit in $windowMs ms ($kind, says when: $saysWhen)", async (scenario) => {
  const { service, totals } = await simulateBatch(scenario, { ...scenario, concurrency: 32 });
  expect(totals).toMatchObject({ succeeded: scenario.items, failed: 0 });
  expect(service.throttled / service.requests).toBeLessThan(0.01);
  expect(scenario.items / service.allowed).toBeGreaterThan(scenario.used);
});

const twoHundred = { limit: 200, windowMs: 1000, items: 12_500 };
const twenty = { limit: 20, windowMs: 1000, items: 1250 };

test.each<Scenario>([
  { ...twoHundred, items: 10_000, kind: "bucket", saysWhen: true, used: 0.95 },
  { ...twoHundred, items: 6250, kind: "bucket", saysWhen: false, used: 0.95 },
  { ...twenty, kind: "bucket", saysWhen: true, used: 0.95 },
  { ...twenty, kind: "bucket", saysWhen: false, used: 0.95 },
  { ...twoHundred, kind: "window", saysWhen: true, used: 0.9 },
  { ...twoHundred, items: 7500, kind: "window", saysWhen: false, used: 0.9 },
  { ...twenty, kind: "window", saysWhen: true, used: 0.9 },
  { ...twenty, kind: "window", saysWhen: false, used: 0.9 },
  // A sliding window counts its own pauses longest: 90 % of it are used from the second minute on.
  { ...twoHundred, items: 20_000, kind: "sliding", saysWhen: true, used: 0.9 },
  { ...twoHundred, items: 7500, kind: "sliding", saysWhen: false, used: 0.9 },
  { ...twenty, kind: "sliding", saysWhen: true, used: 0.9 },
  { ...twenty, kind: "sliding", saysWhen: false, used: 0.9 },
])("finds $limit a second within a minute ($kind, says when: $saysWhen)", async (scenario) => {
  const { service, totals } = await simulateBatch(scenario, { ...scenario, concurrency: 64 });
  const { throttled, requests } = service.firstMinute;
  expect(totals.failed).toBe(0);
  expect(throttled / requests).toBeLessThan(0.02);
  expect(scenario.items / service.allowed).toBeGreaterThan(scenario.used);
});

// Of those in flight when a window of a minute is used up, each is throttled once.
test.each<ServiceLimit & { share: number }>([
  { limit: 1200, windowMs: 60_000, kind: "window", saysWhen: true, share: 0.02 },
  { limit: 1200, windowMs: 60_000, kind: "window", saysWhen: false, share: 0.03 },
  { limit: 1200, windowMs: 60_000, kind: "sliding", saysWhen: true, share: 0.02 },
  { limit: 1200, windowMs: 60_000, kind: "sliding", saysWhen: false, share: 0.03 },
])("learns the length of a minute's window ($kind, says when: $saysWhen)", async (scenario) => {
  const { service, totals } = await simulateBatch(scenario, { items: 3700, concurrency: 32 });
  expect(totals).toMatchObject({ succeeded: 3700, failed: 0 });
  expect(service.throttled / service.requests).toBeLessThan(scenario.share);
  expect(3700 / service.allowed).toBeGreaterThan(0.9);
});

test.each([
  { limit: 10, items: 2500, saysWhen: true, used: 0.95 },
  { limit: 10, items: 2500, saysWhen: false, used: 0.95 },
  { limit: 60, items: 10_000, saysWhen: true, used: 0.88 },
  { limit: 60, items: 4000, saysWhen: false, used: 0.95 },
])("follows a limit of 20 a second that becomes $limit (says when: $saysWhen)", async (change) => {
  const { limit, items, saysWhen, used } = change;
  const later = { fromMs: 60_000, limit };
  const service = { limit: 20, windowMs: 1000, kind: "bucket", saysWhen, later } as const;
  const run = await simulateBatch(service, { items, concurrency: 32 });
  expect(run.totals).toMatchObject({ succeeded: items, failed: 0 });
  expect(run.service.throttled / run.service.requests).toBeLessThan(0.02);
  expect(items / run.service.allowed).toBeGreaterThan(used);
});

test("loses nothing when the burst of a minute's bucket is used up with 64 in flight", async () => {
  const bucket = { limit: 1200, windowMs: 60_000, kind: "bucket", saysWhen: false } as const;
  const { totals } = await simulateBatch(bucket, { items: 2500, concurrency: 64 });
  expect(totals).toMatchObject({ succeeded: 2500, failed: 0 });
});

test("fails every call of a service that throttles all, as often as they may be retried", async () => {
  const none = { limit: 1, windowMs: 1000, kind: "none", saysWhen: true, strays: 1 } as const;
  const { service, totals } = await simulateBatch(none, { items: 20, concurrency: 4 });
  expect(totals).toMatchObject({ succeeded: 0, failed: 20 });
  expect(service.requests).toBeLessThanOrEqual(20 * 6);
});

const strays: ServiceLimit = {
  limit: 1,
  windowMs: 1000,
  kind: "none",
  saysWhen: true,
  strays: 0.05,
};

test.each([
  { concurrency: 8, seed: 1 },
  { concurrency: 16, seed: 2 },
  { concurrency: 16, seed: 3 },
  { concurrency: 32, seed: 4 },
])("a batch is hardly held up by 5 % of stray 429s ($concurrency at once)", async (load) => {
  const items = 1500;
  const plain = await simulatePlainLoop(strays, { items, ...load });
  const { totals, elapsedMs } = await simulateBatch(strays, { items, ...load });
  expect(totals).toMatchObject({ succeeded: items, failed: 0 });
  expect(plain.elapsedMs / elapsedMs).toBeGreaterThan(0.8);
});

import { expect, test } from "vitest";
import type { ServiceLimit } from "../testing/limited-service.ts";
import { simulateBatch } from "../testing/simulation.ts";

interface Scenario extends ServiceLimit {
  /** How many requests are asked. */
  readonly items: number;
  /** The share of the limit that is used at the least. */
  readonly used: number;
}

const aSecond = { limit: 20, windowMs: 1000, items: 5000 };
const aMinute = { limit: 10, windowMs: 60_000, items: 5000 };

test.each<Scenario>([
  { ...aSecond, kind: "bucket", saysWhen: true, used: 0.95 },
  { ...aSecond, kind: "bucket", saysWhen: false, used: 0.95 },
  { ...aMinute, kind: "bucket", saysWhen: true, used: 0.95 },
  { ...aMinute, kind: "bucket", saysWhen: false, used: 0.95 },
  { ...aMinute, kind: "window", saysWhen: true, used: 0.95 },
  // A window of one second asks to wait a whole second, as long as the window itself.
  { ...aSecond, kind: "window", saysWhen: true, used: 0.9 },
  { ...aSecond, kind: "window", saysWhen: false, used: 0.9 },
  { ...aSecond, kind: "sliding", saysWhen: false, used: 0.9 },
  { ...aMinute, kind: "window", saysWhen: false, used: 0.9 },
  { ...aMinute, kind: "sliding", saysWhen: true, used: 0.9 },
  { ...aMinute, kind: "sliding", saysWhen: false, used: 0.9 },
])("loses nothing under $limit in $windowMs ms ($kind, says when: $saysWhen)", async (scenario) => {
  const { service, totals } = await simulateBatch(scenario, { ...scenario, concurrency: 32 });
  expect(totals).toMatchObject({ succeeded: scenario.items, failed: 0 });
  expect(service.throttled / service.requests).toBeLessThan(0.01);
  expect(scenario.items / service.allowed).toBeGreaterThan(scenario.used);
});

test.each<Scenario>([
  { limit: 200, windowMs: 1000, items: 12_500, kind: "bucket", saysWhen: true, used: 0.95 },
  { limit: 200, windowMs: 1000, items: 12_500, kind: "bucket", saysWhen: false, used: 0.95 },
  { limit: 20, windowMs: 1000, items: 1250, kind: "bucket", saysWhen: true, used: 0.95 },
  { limit: 20, windowMs: 1000, items: 1250, kind: "bucket", saysWhen: false, used: 0.95 },
])("finds $limit a second in a minute (says when: $saysWhen)", async (scenario) => {
  const { service, totals } = await simulateBatch(scenario, { ...scenario, concurrency: 64 });
  const { throttled, requests } = service.firstMinute;
  expect(totals.failed).toBe(0);
  expect(throttled / requests).toBeLessThan(0.02);
  expect(scenario.items / service.allowed).toBeGreaterThan(scenario.used);
});

test.each([
  { limit: 10, used: 0.9 },
  { limit: 60, used: 0.7 },
])("follows a limit of 20 a second that becomes $limit", async ({ limit, used }) => {
  const later = { fromMs: 60_000, limit };
  const service = { limit: 20, windowMs: 1000, kind: "bucket", saysWhen: true, later } as const;
  const run = await simulateBatch(service, { items: 5000, concurrency: 32 });
  expect(run.totals).toMatchObject({ succeeded: 5000, failed: 0 });
  expect(run.service.throttled / run.service.requests).toBeLessThan(0.02);
  expect(5000 / run.service.allowed).toBeGreaterThan(used);
});

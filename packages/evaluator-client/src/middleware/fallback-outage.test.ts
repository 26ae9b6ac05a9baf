import { describe, expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { type EvaluatorError, RateLimitError, StatusError } from "../errors.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { seededRandom } from "../testing/limited-service.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { statusDetails } from "../testing/status-details.ts";
import { budget } from "./budget.ts";
import { fallback } from "./fallback.ts";

interface Outage {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly maxRetries: number;
  readonly seed?: number;
  /** When the primary answers again. */
  readonly untilMs?: number;
  /** How long the primary takes: an answer, or a refusal. */
  readonly latencyMs?: number;
  readonly options?: Parameters<typeof fallback>[1];
}

const errorOf = ({ status, retryAfterMs }: Outage): EvaluatorError =>
  status === 429
    ? new RateLimitError("Slow down.", statusDetails(429, { retryAfterMs }))
    : new StatusError("Unavailable.", statusDetails(status, { retryAfterMs }));

/** An evaluator whose primary refuses every call for a while, and how each of its calls ended. */
function duringOutage(outage: Outage) {
  const { maxRetries, seed = 1, untilMs = Infinity, latencyMs = 10, options } = outage;
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const askedAtMs: number[] = [];
  const primary = countingTransport({
    name: "primary",
    async answer() {
      const isOut = clock.now() < untilMs;
      askedAtMs.push(clock.now());
      await new Promise<void>((resolve) => void clock.schedule(latencyMs, resolve));
      if (isOut) throw errorOf(outage);
    },
  });
  const second = createEvaluator({ transport: countingTransport({ name: "second" }).transport });
  const own = createEvaluator({ transport: primary.transport, maxRetries }, { clock, random });
  const evaluator = own.with(fallback(second, options));
  const ended: { tookMs: number; by: string; atMs: number }[] = [];
  const failed: unknown[] = [];
  const ask = () => {
    const startedAtMs = clock.now();
    evaluator.evaluate(scamRequest("a")).then(
      ({ transport }) =>
        ended.push({ tookMs: clock.now() - startedAtMs, by: transport, atMs: clock.now() }),
      (error: unknown) => failed.push(error),
    );
  };
  return { clock, ask, ended, failed, askedAtMs, own, second };
}

const outages: Outage[] = [429, 503].flatMap((status) =>
  [null, 1000, 2000, 20_000].flatMap((retryAfterMs) =>
    [0, 2].map((maxRetries) => ({ status, retryAfterMs, maxRetries })),
  ),
);

describe.each(outages)("at $status, Retry-After $retryAfterMs, $maxRetries retries", (outage) => {
  test.each([1, 2, 3, 4])("all calls are answered by the other service (seed %i)", async (seed) => {
    const { clock, ask, ended, failed, askedAtMs } = duringOutage({ ...outage, seed });
    for (let call = 0; call < 50; call += 1) ask();
    await clock.advance(1500);
    expect(failed).toEqual([]);
    expect(ended).toHaveLength(50);
    const probesFrom = askedAtMs.length;
    for (let time = 0; time < 400; time += 1) {
      ask();
      await clock.advance(50);
    }
    await clock.advance(1500);
    expect(failed).toEqual([]);
    expect(ended).toHaveLength(450);
    const slowest = ended.map(({ tookMs }) => tookMs).toSorted((one, other) => other - one);
    expect(slowest[4]).toBeLessThan(1500);
    const probes = askedAtMs.slice(probesFrom);
    const announcedMs = outage.retryAfterMs === 20_000 ? 20_000 : 0;
    expect(probes.filter((atMs) => atMs < announcedMs)).toEqual([]);
    expect(probes.length).toBeLessThanOrEqual(20);
  });
});

test.each(
  [429, 503].flatMap((status) =>
    [0, 2].map((maxRetries) => ({ status, maxRetries, latencyMs: 300 })),
  ),
)("no request comes within an announced pause ($status, $maxRetries retries)", async (outage) => {
  for (const retryAfterMs of [1000, 2000]) {
    for (let seed = 1; seed <= 6; seed += 1) {
      const { clock, ask, askedAtMs } = duringOutage({ ...outage, retryAfterMs, seed });
      for (let time = 0; time < 400; time += 1) {
        ask();
        await clock.advance(30);
      }
      // The first ones are in flight before the service has refused four.
      const probes = askedAtMs.filter((atMs) => atMs > 1000);
      expect(probes.length).toBeGreaterThan(3);
      const pausesMs = probes.slice(1).map((atMs, index) => atMs - Number(probes[index]));
      expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(outage.latencyMs + retryAfterMs);
    }
  }
});

const refusing: Outage = { status: 429, retryAfterMs: 2000, maxRetries: 2 };

test("calls return to the primary once a probe succeeds", async () => {
  const { clock, ask, ended } = duringOutage({ ...refusing, untilMs: 5000 });
  for (let call = 0; call < 8; call += 1) ask();
  for (let time = 0; time < 200; time += 1) {
    await clock.advance(50);
    ask();
  }
  await clock.advance(1000);
  const back = ended.find(({ by }) => by === "primary")?.atMs;
  expect(back).toBeLessThan(5000 + 2200 + 50);
  expect(ended.filter(({ by, atMs }) => by === "second" && atMs > Number(back) + 50)).toEqual([]);
});

test.each([0, 2])(
  "a primary that is too slow for a probe is probed once per pause",
  async (maxRetries) => {
    const options = { on: [RateLimitError] };
    const outage = { ...refusing, maxRetries, retryAfterMs: null, latencyMs: 5000, options };
    const { clock, ask, ended, failed, askedAtMs } = duringOutage(outage);
    for (let call = 0; call < 8; call += 1) ask();
    await clock.advance(6000);
    const before = askedAtMs.length;
    ended.length = 0;
    for (let time = 0; time < 400; time += 1) {
      ask();
      await clock.advance(50);
    }
    await clock.advance(1500);
    expect(failed).toEqual([]);
    expect(Math.max(...ended.map(({ tookMs }) => tookMs))).toBeLessThan(1500);
    expect(askedAtMs.length - before).toBeLessThanOrEqual(8);
  },
);

test("a pause counts as the error that caused it: with others named, calls wait", async () => {
  const named = duringOutage({ ...refusing, options: { on: [RateLimitError] } });
  for (let call = 0; call < 8; call += 1) named.ask();
  await named.clock.advance(100);
  expect(named.ended).toHaveLength(8);
  const unnamed = duringOutage({ ...refusing, status: 503, options: { on: [RateLimitError] } });
  for (let call = 0; call < 8; call += 1) unnamed.ask();
  await unnamed.clock.advance(1500);
  expect([unnamed.ended, unnamed.failed]).toEqual([[], []]);
});

test("waits as long as maxWaitMs allows", async () => {
  const patient = duringOutage({ ...refusing, untilMs: 1500, options: { maxWaitMs: 3000 } });
  for (let call = 0; call < 8; call += 1) patient.ask();
  await patient.clock.advance(5000);
  expect(patient.ended.map(({ by }) => by)).toEqual(Array(8).fill("primary"));
});

test("a call that never left the queue is not billed and counts no attempt", async () => {
  const { clock, ask, own } = duringOutage(refusing);
  for (let call = 0; call < 8; call += 1) ask();
  await clock.advance(100);
  const errors: EvaluatorError[] = [];
  const watched = own
    .with(async (request, next, { limitWait }) => {
      limitWait({ maxWaitMs: 100, isMeant: () => true });
      return next(request).catch((error: EvaluatorError) => {
        errors.push(error);
        throw error;
      });
    })
    .with(budget({ maxTokens: 100_000 }));
  await expect(watched.evaluate(scamRequest("b"))).rejects.toBeInstanceOf(RateLimitError);
  expect(errors[0]).toMatchObject({ attempts: 0, status: 429 });
  expect(errors[0]?.message).toContain("It was not sent");
});

test("rejects a maxWaitMs that is no time", () => {
  const { second } = duringOutage(refusing);
  expect(() => fallback(second, { maxWaitMs: -1 })).toThrow("maxWaitMs");
});

import { expect, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { RateLimitError } from "./errors.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { statusDetails } from "./testing/status-details.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import type { Hooks } from "./logger.ts";

/** Runs one call that is throttled once, fails once and is then answered. */
async function run(hooks: Hooks) {
  const responses = [
    Response.json({}, { status: 429, headers: { "Retry-After": "2" } }),
    Response.json({}, { status: 500 }),
    Response.json(gatewayBody),
  ];
  const clock = new ManualClock();
  const fetch = async () => responses.shift() ?? Response.error();
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluator = createEvaluator({ transport, ...hooks }, { clock, random: () => 1 });
  const evaluation = evaluator.evaluate(emailRequest);
  await clock.advance(60_000);
  return evaluation;
}

test("tells of each attempt and each wait, in order", async () => {
  const events: unknown[] = [];
  await run({
    onAttempt: (event) => events.push(event),
    onWait: (event) => events.push(event),
  });
  expect(events).toMatchObject([
    { attempt: 1, status: 429, durationMs: 0, error: { name: "GatewayRateLimitError" } },
    { attempt: 2, reason: "backoff", delayMs: 2200 },
    { attempt: 2, status: 500, durationMs: 0, error: { name: "StatusError" } },
    { attempt: 3, reason: "backoff", delayMs: 500 },
    { attempt: 3, status: 200, durationMs: 0, error: null },
  ]);
});

test("tells of the wait of a call that is held back by a limit", async () => {
  const clock = new ManualClock();
  const fetch = async () => Response.json({}, { status: 429, headers: { "Retry-After": "2" } });
  const waits: unknown[] = [];
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const onWait: Hooks["onWait"] = (event) => waits.push(event);
  const options = { transport, onWait, maxRetries: 1, limits: {} };
  const evaluator = createEvaluator(options, { clock, random: () => 1 });
  for (let call = 0; call < 4; call += 1) evaluator.evaluate(emailRequest).catch(() => undefined);
  await clock.advance(0);
  expect(waits.at(-1)).toEqual({ attempt: 2, reason: "rate-limit", delayMs: 2200 });
  await clock.advance(60_000);
});

test("gives the answer even when a callback throws", async () => {
  const broken = () => {
    throw new Error("a broken display");
  };
  const evaluation = await run({ onAttempt: broken, onWait: broken });
  expect(evaluation.timing.attempts).toBe(3);
});

test("a batch reports its longest wait, and gives each call free retries", async () => {
  const clock = new ManualClock();
  let refusals = 5;
  const answer = async () => {
    refusals -= 1;
    if (refusals >= 0)
      throw new RateLimitError("No.", statusDetails(429, { retryAfterMs: 60_000 }));
  };
  const { transport, states } = countingTransport({ answer });
  const evaluator = createEvaluator({ transport, maxRetries: 1 }, { clock, random: () => 0 });
  const batch = evaluator.evaluateMany(["a", "b"].map(scamRequest), { concurrency: 2 });
  const first = batch.next();
  await clock.advance(1000);
  expect([states, batch.totals.waitMs]).toEqual([["a", "b"], 59_000]);
  await clock.advance(600_000);
  expect((await first).value).toMatchObject({ status: "succeeded" });
  expect([batch.totals.waitMs, states.length]).toEqual([0, 7]);
});

import { expect, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import type { Hooks } from "./hooks.ts";

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
    { attempt: 2, reason: "rate-limit", delayMs: 2200 },
    { attempt: 2, status: 500, durationMs: 0, error: { name: "StatusError" } },
    { attempt: 3, reason: "backoff", delayMs: 500 },
    { attempt: 3, status: 200, durationMs: 0, error: null },
  ]);
});

test("gives the answer even when a callback throws", async () => {
  const broken = () => {
    throw new Error("a broken display");
  };
  const evaluation = await run({ onAttempt: broken, onWait: broken });
  expect(evaluation.timing.attempts).toBe(3);
});

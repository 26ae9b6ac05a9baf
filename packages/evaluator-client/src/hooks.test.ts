import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { RateLimitError } from "./errors.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { statusDetails } from "./testing/status-details.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import type { EvaluatorOptions } from "./evaluator-options.ts";
import type { Hooks } from "./logger.ts";
import { cache } from "./middleware/cache.ts";
import { sharedPacer } from "./pacing/shared-pacer.ts";

/** Runs one call that is throttled once, fails once and is then answered. */
async function run(hooks: Hooks & Pick<EvaluatorOptions, "logger">) {
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

const boom = new Error("a broken display of a secret");

/** Ways in which a function of the user fails. */
const failures: [string, () => () => never | Promise<never>][] = [
  [
    "throws",
    () => () => {
      throw boom;
    },
  ],
  ["rejects", () => () => Promise.reject(boom)],
];

/** Runs something and returns the warnings of the process. */
async function warningsOf(act: () => Promise<unknown>): Promise<unknown[]> {
  const emitWarning = vi.spyOn(process, "emitWarning").mockReturnValue();
  await act();
  await setImmediate();
  return emitWarning.mock.calls.map(([message]) => message);
}

test.each(failures)(
  "a callback that %s changes no call, and is reported once",
  async (_, failing) => {
    const logger = { debug: failing(), info: failing(), warn: failing() };
    const hooks = { onAttempt: failing(), onWait: failing(), logger };
    const warnings = await warningsOf(async () => {
      for (let call = 0; call < 2; call += 1) {
        expect((await run(hooks)).timing.attempts).toBe(3);
      }
    });
    const names = warnings.map((warning) => /"(.*?)"/.exec(String(warning))?.[1]);
    expect(new Set(names)).toEqual(new Set(["debug", "info", "warn", "onAttempt", "onWait"]));
    expect(names).toHaveLength(5);
    expect(String(warnings)).not.toContain("secret");
  },
);

test.each(failures)("an onStoreError that %s costs no answer", async (_, failing) => {
  const { transport } = countingTransport();
  const store = { get: () => Promise.reject(boom), set: () => Promise.reject(boom) };
  const warnings = await warningsOf(async () => {
    const evaluator = createEvaluator({ transport }).with(
      cache({ store, onStoreError: failing() }),
    );
    expect((await evaluator.evaluate(scamRequest("a"))).answers.scam.probability).toBe(0.04);
  });
  expect(warnings).toEqual([expect.stringContaining('"onStoreError" failed (Error)')]);
});

test.each(failures)("an onStoreChange that %s stops no pacer", async (_, failing) => {
  const { transport } = countingTransport();
  const down = () => Promise.reject(boom);
  const store = { read: down, swap: down, onPause: () => () => undefined };
  const warnings = await warningsOf(async () => {
    const limits = { requestsPerMinute: 6000 };
    await using pacer = sharedPacer({ store, key: "k", limits, onStoreChange: failing() });
    const evaluator = createEvaluator({ transport, pacer });
    for (const state of ["a", "b"]) await evaluator.evaluate(scamRequest(state));
  });
  expect(warnings).toEqual([expect.stringContaining('"onStoreChange" failed (Error)')]);
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

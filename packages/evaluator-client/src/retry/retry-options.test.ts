import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { RetryOptions } from "../evaluator-options.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

/** Asks a service that answers with these responses and then well; returns when each request came, and the outcome. */
async function play(
  retry: RetryOptions | undefined,
  responses: { status: number; headers?: Record<string, string> }[],
) {
  const clock = new ManualClock();
  const sentAtMs: number[] = [];
  const left = [...responses];
  const fetch = async () => {
    sentAtMs.push(clock.now());
    const next = left.shift();
    return next ? Response.json({}, next) : Response.json(gatewayBody);
  };
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const options = { transport, retry, maxRetries: 5 };
  const evaluator = createEvaluator(options, { clock, random: () => 1 });
  const asked = evaluator.evaluate(emailRequest).catch((error: unknown) => error);
  await clock.advance(110_000);
  return { sentAtMs, outcome: await asked };
}

const five = Array.from({ length: 5 }, () => ({ status: 500 }));

test("its delays grow from the first to the longest", async () => {
  const usual = await play(undefined, five);
  expect(usual.sentAtMs).toEqual([0, 250, 750, 1750, 3750, 7750]);
  const { sentAtMs } = await play({ initialDelayMs: 100, maxDelayMs: 300 }, five);
  expect(sentAtMs).toEqual([0, 100, 300, 600, 900, 1200]);
  const refused = await play({ initialDelayMs: 100 }, [{ status: 503 }]);
  expect(refused.sentAtMs).toEqual([0, 400]);
});

test.each<[string, RetryOptions | undefined, number, Record<string, string>, number]>([
  ["500 as usual", undefined, 500, {}, 2],
  ["404 as usual", undefined, 404, {}, 1],
  ["404 if it is listed", { statuses: [404] }, 404, {}, 2],
  ["500 if others are listed", { statuses: [404] }, 500, {}, 1],
  ["429 if others are listed", { statuses: [404] }, 429, {}, 1],
  ["429 if it is listed", { statuses: [429] }, 429, {}, 2],
  ["none if the list is empty", { statuses: [] }, 503, {}, 1],
  [
    "a listed one that the service forbids",
    { statuses: [404] },
    404,
    { "x-should-retry": "false" },
    1,
  ],
])("tries again: %s", async (_, retry, status, headers, requests) => {
  const { sentAtMs, outcome } = await play(retry, [{ status, headers }]);
  expect(sentAtMs).toHaveLength(requests);
  const expected = requests === 1 ? { status, attempts: 1 } : { timing: { attempts: 2 } };
  expect(outcome).toMatchObject(expected);
});

test.each([
  [429, 60],
  [500, 60],
])("a %d that asks for a longer wait than allowed fails at once", async (status, seconds) => {
  const responses = [{ status, headers: { "retry-after": String(seconds) } }];
  const retry = { maxRetryAfterMs: 30_000 };
  const { sentAtMs, outcome } = await play(retry, responses);
  expect(sentAtMs).toHaveLength(1);
  expect(outcome).toMatchObject({ status, retryAfterMs: 60_000 });
  expect(String(outcome)).toContain("asks to wait 60 s");
  const allowed = await play({ maxRetryAfterMs: 60_000 }, responses);
  expect(allowed.sentAtMs).toHaveLength(2);
});

test("calls that would wait in a longer pause than allowed fail, and are not sent", async () => {
  const clock = new ManualClock();
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    return Response.json({}, { status: 429, headers: { "retry-after": "60" } });
  };
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const retry = { maxRetryAfterMs: 5000 };
  const evaluator = createEvaluator({ transport, retry, limits: {} }, { clock });
  const asked = Array.from({ length: 6 }, () =>
    evaluator.evaluate(emailRequest).catch((error: unknown) => error),
  );
  await clock.advance(1);
  for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject({ status: 429 });
  const late = evaluator.evaluate(emailRequest).catch((error: unknown) => error);
  await clock.advance(1);
  expect(await late).toMatchObject({ status: 429, attempts: 0 });
  expect(requests).toBe(6);
});

test.each<[string, RetryOptions]>([
  ["retry.statuses.0", { statuses: [200] }],
  ["retry.initialDelayMs", { initialDelayMs: 0 }],
  ["retry.maxRetryAfterMs", { maxRetryAfterMs: Number.NaN }],
  ["retry.delay", { delay: 1 } as RetryOptions],
])("rejects a wrong %s", (option, retry) => {
  expect(() => createEvaluator({ retry })).toThrow(expect.objectContaining({ option }));
});

import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { directBody, emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { sleep } from "../clock.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { createPacer } from "./pacer.ts";

const limited = { status: 429, headers: { "Retry-After": "5" } };

/** A service that takes 100 ms to answer, throttled four times first, and notes when it is asked. */
function throttledAtFirst(clock: ManualClock, body: object) {
  const askedAtMs: number[] = [];
  const fetch = async () => {
    const isThrottled = askedAtMs.push(clock.now()) <= 4;
    await sleep(100, { clock });
    return isThrottled ? Response.json({}, limited) : Response.json(body);
  };
  return { askedAtMs, fetch };
}

test("four throttled calls in a row pause every call of their evaluator", async () => {
  const clock = new ManualClock();
  const { askedAtMs, fetch } = throttledAtFirst(clock, gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluator = createEvaluator({ transport }, { clock, random: () => 0 });
  const ask = () => evaluator.evaluate(emailRequest);
  const calls = [ask(), ask(), ask(), ask()];
  await clock.advance(100);
  for (let call = 0; call < 10; call += 1) calls.push(ask());
  await clock.advance(4999);
  expect(askedAtMs).toEqual([0, 0, 0, 0]);
  await clock.advance(60_000);
  const evaluations = await Promise.all(calls);
  // One goes first, and none that was throttled: they have fewer retries left.
  expect(evaluations.map(({ timing }) => timing.attempts)).toEqual([
    ...Array(4).fill(2),
    ...Array(10).fill(1),
  ]);
  expect(askedAtMs.filter((atMs) => atMs < 5200)).toEqual([0, 0, 0, 0, 5100]);
  expect(askedAtMs).toHaveLength(18);
});

test("evaluators that share a pacer pause together", async () => {
  const clock = new ManualClock();
  const random = () => 0;
  const pacer = createPacer({}, { clock, random });
  const first = throttledAtFirst(clock, gatewayBody);
  const askedAtMs: number[] = [];
  const fetch = async () => {
    askedAtMs.push(clock.now());
    await sleep(100, { clock });
    return Response.json(directBody);
  };
  const one = createEvaluator(
    { transport: gatewayTransport({ apiKey: "a-key", fetch: first.fetch }), pacer },
    { clock, random },
  );
  const other = createEvaluator(
    { transport: directTransport({ apiKey: "a-key", fetch }), pacer },
    { clock, random },
  );
  const asked = Array.from({ length: 4 }, () => one.evaluate(emailRequest));
  await clock.advance(100);
  const alsoAsked = other.evaluate(emailRequest);
  await clock.advance(4999);
  expect([first.askedAtMs, askedAtMs]).toEqual([[0, 0, 0, 0], []]);
  await clock.advance(60_000);
  const attempts = (await Promise.all(asked)).map(({ timing }) => timing.attempts);
  expect(attempts).toEqual([2, 2, 2, 2]);
  expect(await alsoAsked).toMatchObject({ timing: { attempts: 1 } });
  // The other's call is the probe: it has more retries left.
  expect(askedAtMs).toEqual([5100]);
  expect(first.askedAtMs[4]).toBe(5200);
});

test("an evaluator of its own does not pause for another", async () => {
  const clock = new ManualClock();
  const { askedAtMs, fetch } = throttledAtFirst(clock, gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const runtime = { clock, random: () => 0 };
  const paused = createEvaluator({ transport }, runtime);
  const other = createEvaluator({ transport }, runtime);
  const calls = Array.from({ length: 4 }, () => paused.evaluate(emailRequest));
  await clock.advance(100);
  calls.push(paused.evaluate(emailRequest), other.evaluate(emailRequest));
  await clock.advance(100);
  expect(askedAtMs).toEqual([0, 0, 0, 0, 100]);
  await clock.advance(60_000);
  await Promise.all(calls);
  expect(askedAtMs).toHaveLength(10);
});

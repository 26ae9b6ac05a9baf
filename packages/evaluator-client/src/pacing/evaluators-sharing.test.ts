import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { directBody, emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { sleep } from "../retry/attempt.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { createPacer } from "./pacer.ts";

const limited = { status: 429, headers: { "Retry-After": "5" } };

/** A service that takes 100 ms to answer, throttled first, and notes when it is asked. */
function throttledOnce(clock: ManualClock, body: object) {
  const askedAtMs: number[] = [];
  const fetch = async () => {
    const isFirst = askedAtMs.push(clock.now()) === 1;
    await sleep(100, { clock });
    return isFirst ? Response.json({}, limited) : Response.json(body);
  };
  return { askedAtMs, fetch };
}

test("one throttled call pauses every call of its evaluator", async () => {
  const clock = new ManualClock();
  const { askedAtMs, fetch } = throttledOnce(clock, gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluator = createEvaluator({ transport }, { clock, random: () => 0 });
  const calls = [evaluator.evaluate(emailRequest)];
  await clock.advance(100);
  for (let call = 0; call < 10; call += 1) calls.push(evaluator.evaluate(emailRequest));
  await clock.advance(4999);
  expect(askedAtMs).toEqual([0]);
  await clock.advance(60_000);
  const evaluations = await Promise.all(calls);
  // One goes first, and not the one that was throttled: it has fewer retries left.
  expect(evaluations.map(({ timing }) => timing.attempts)).toEqual([2, ...Array(10).fill(1)]);
  expect(askedAtMs.filter((atMs) => atMs < 5200)).toEqual([0, 5100]);
  expect(askedAtMs).toHaveLength(12);
});

test("evaluators that share a pacer pause together", async () => {
  const clock = new ManualClock();
  const random = () => 0;
  const pacer = createPacer({}, { clock, random });
  const first = throttledOnce(clock, gatewayBody);
  const second = throttledOnce(clock, directBody);
  second.askedAtMs.push(-1);
  const one = createEvaluator(
    { transport: gatewayTransport({ apiKey: "a-key", fetch: first.fetch }), pacer },
    { clock, random },
  );
  const other = createEvaluator(
    { transport: directTransport({ apiKey: "a-key", fetch: second.fetch }), pacer },
    { clock, random },
  );
  const asked = one.evaluate(emailRequest);
  await clock.advance(100);
  const alsoAsked = other.evaluate(emailRequest);
  await clock.advance(4999);
  expect([first.askedAtMs, second.askedAtMs]).toEqual([[0], [-1]]);
  await clock.advance(60_000);
  expect(await asked).toMatchObject({ timing: { attempts: 2 } });
  expect(await alsoAsked).toMatchObject({ timing: { attempts: 1 } });
  expect(second.askedAtMs).toEqual([-1, 5100]);
  expect(first.askedAtMs).toEqual([0, 5200]);
});

test("an evaluator of its own does not pause for another", async () => {
  const clock = new ManualClock();
  const { askedAtMs, fetch } = throttledOnce(clock, gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluators = [0, 1].map(() => createEvaluator({ transport }, { clock, random: () => 0 }));
  const calls = [];
  for (const evaluator of evaluators) {
    calls.push(evaluator.evaluate(emailRequest));
    await clock.advance(0);
  }
  expect(askedAtMs).toEqual([0, 0]);
  await clock.advance(60_000);
  await Promise.all(calls);
});

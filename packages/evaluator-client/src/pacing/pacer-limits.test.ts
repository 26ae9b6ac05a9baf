import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { pacedCalls } from "../testing/paced-calls.ts";

test("uses 95 % of a known limit of requests", async () => {
  const { ask, end, admitted, clock } = pacedCalls({ requestsPerMinute: 1200 });
  for (let index = 0; index < 19; index += 1) {
    await ask(`${index}`);
    await end(`${index}`, (admission) => admission.succeeded(1));
  }
  expect(admitted).toHaveLength(19);
  await ask("20");
  await clock.advance(52);
  expect(admitted).toHaveLength(19);
  await clock.advance(1);
  expect(admitted).toHaveLength(20);
});

test("uses 95 % of a known limit of tokens, and counts those used", async () => {
  const { ask, end, admitted, clock } = pacedCalls({ tokensPerSecond: 1000 });
  await ask("a", { tokens: 940 });
  await ask("b", { tokens: 200 });
  await ask("c", { tokens: 1 });
  expect(admitted).toEqual(["a"]);
  await end("a", (admission) => admission.succeeded(760));
  expect(admitted).toEqual(["a"]);
  await ask("d", { tokens: 100 });
  await clock.advance(10);
  expect(admitted).toEqual(["a"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(105);
  expect(admitted).toEqual(["a", "b", "c"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b", "c", "d"]);
});

test("a call that takes several requests waits for the tokens of one at a time", async () => {
  const { transport } = countingTransport();
  const clock = new ManualClock();
  const tokens: number[] = [];
  const admission = {
    succeeded: () => undefined,
    throttled: () => "stray",
    ended: () => undefined,
  };
  const pacer = {
    countsTokens: true,
    admit: () => Promise.reject(new Error("It never waits.")),
    admitNow: (count: number) => (tokens.push(count), admission as never),
  };
  const several = { ...transport, estimate: () => ({ calls: 4, inputTokens: 400 }) };
  const evaluator = createEvaluator({ transport: several, pacer }, { clock });
  await evaluator.evaluate(scamRequest("a"));
  expect(tokens).toEqual([100]);
});

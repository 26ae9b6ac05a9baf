import { expect, test } from "vitest";
import { sleep } from "../clock.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { ConnectionError } from "../errors.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { ManualClock } from "../testing/manual-clock.ts";

const minutes = 60_000;

/** Asks with a check that takes two minutes before the second attempt; the first one is lost. */
async function askWithWait(deadlineMs: number) {
  const clock = new ManualClock();
  const lost: number[] = [];
  let failures = 1;
  const { transport, states } = countingTransport({
    async answer() {
      if (failures-- > 0)
        throw new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
    },
  });
  const evaluator = createEvaluator(
    { transport, maxRetries: 5, attemptTimeoutMs: 1000, deadlineMs },
    { clock, random: () => 0 },
  );
  const beforeAttempt = async (lostAttempts: number) => {
    lost.push(lostAttempts);
    if (lostAttempts > 0) await sleep(2 * minutes, { clock });
  };
  const [call] = [evaluator.evaluate(scamRequest("a"), { beforeAttempt })];
  const ended = call.then(
    () => "answered",
    (error: unknown) => error,
  );
  for (let step = 0; step < 100; step += 1) await clock.advance(2000);
  return { outcome: await ended, lost, sent: states.length };
}

test("a wait of the check before an attempt is no part of the attempt's time", async () => {
  expect(await askWithWait(10 * minutes)).toEqual({ outcome: "answered", lost: [0, 1], sent: 2 });
});

test("nothing is sent if the deadline passes while the check before an attempt waits", async () => {
  const { outcome, lost, sent } = await askWithWait(minutes);
  expect(outcome).toMatchObject({ name: "TimeoutError", limit: "deadline" });
  expect([lost, sent]).toEqual([[0, 1], 1]);
});

test("a call whose check waits for another call holds no turn of it", async () => {
  const clock = new ManualClock();
  const { transport, states } = countingTransport();
  const limits = { requestsPerMinute: 1 };
  const evaluator = createEvaluator({ transport, limits }, { clock });
  const other = Promise.withResolvers<void>();
  const first = evaluator.evaluate(scamRequest("a"), { beforeAttempt: () => other.promise });
  await evaluator.evaluate(scamRequest("b")).then(() => other.resolve());
  await Promise.all([first, clock.advance(2 * minutes)]);
  expect(states).toEqual(["b", "a"]);
});

import { expect, test } from "vitest";
import { type RoundOptions, roundsOf } from "./run-round.ts";

async function runRound(call: (number: number) => Promise<void>, options: RoundOptions) {
  const rounds = roundsOf(async () => call);
  await rounds.setUp(null);
  return await rounds.run(options);
}

test("makes as many calls as it may, as many at once as it may, each with a number of its own", async () => {
  const numbers: number[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const call = async (number: number) => {
    numbers.push(number);
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight -= 1;
  };
  const round = await runRound(call, { concurrency: 3, maxCalls: 10 });
  expect(round.calls).toBe(10);
  expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(mostInFlight).toBe(3);
  expect(round.cpuUs).toBeGreaterThan(0);
});

test("begins no call when the time is over", async () => {
  const round = await runRound(async () => {}, { concurrency: 1, durationMs: 0 });
  expect(round.calls).toBe(0);
});

test("one call that fails is the end of the round", async () => {
  const call = async (number: number) => {
    if (number === 3) throw new Error("not the answer");
  };
  const round = runRound(call, { concurrency: 2, maxCalls: 10 });
  await expect(round).rejects.toThrow("not the answer");
});

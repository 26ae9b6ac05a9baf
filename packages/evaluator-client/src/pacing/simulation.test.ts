import { expect, test } from "vitest";
import { LimitedService, seededRandom } from "../testing/limited-service.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import {
  limitWorlds,
  playWorld,
  smallBucketWorlds,
  startWorlds,
  strayWorlds,
  type World,
} from "../testing/pacing-worlds.ts";
import { simulateBatch } from "../testing/simulation.ts";

// CI plays 50 seeds on each push and a thousand once a week: testing/pacing-worlds-program.ts.
const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
/** For worlds that take ten times as long as the others. */
const fewSeeds = seeds.slice(0, 4);

async function missedIn(world: World, played = seeds): Promise<string[]> {
  const results = await playWorld(world, played);
  return results.flatMap(({ missed }) => missed);
}

test.each(strayWorlds)("a batch is about as fast as a plain loop: $name", async (world) => {
  expect(await missedIn(world)).toEqual([]);
});

test.each(limitWorlds)("finds a limit and keeps to it: $name", async (world) => {
  expect(await missedIn(world, fewSeeds)).toEqual([]);
});

test.each(smallBucketWorlds)("loses nothing: $name", async (world) => {
  expect(await missedIn(world)).toEqual([]);
});

test.each(startWorlds)("holds nothing back: $name", async (world) => {
  expect(await missedIn(world)).toEqual([]);
});

test("a world whose figure misses its goal names the seed", async () => {
  const limits = { worst: 0.5, mean: 0.5 };
  const world: World = {
    name: "slower with each seed",
    goals: [{ figure: "rate", isBestHigh: true, limits }],
    play: async (seed) => ({ rate: 1 / seed }),
  };
  const [result] = await playWorld(world, [1, 2, 4]);
  expect(result).toMatchObject({ worst: 0.25, median: 0.5, worstSeed: 4 });
  expect(result?.missed).toEqual(["rate: worst 0.25, wanted at least 0.5; the worst seed is 4"]);
});

test("loses nothing when the burst of a minute's bucket is used up with 64 in flight", async () => {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const bucket = { limit: 1200, windowMs: 60_000, kind: "bucket", retryAfter: "absent" } as const;
  const service = new LimitedService(clock, random, bucket);
  const ask = () => service.ask();
  const limits = { concurrency: 64 };
  const totals = await simulateBatch({ clock, random, ask, end: { items: 2500 }, limits });
  expect(totals).toMatchObject({ succeeded: 2500, failed: 0 });
});

test("fails every call of a service that throttles all, as often as they may be retried", async () => {
  const clock = new ManualClock();
  let requests = 0;
  const ask = async () => {
    requests += 1;
    return { retryAfterMs: 1000 };
  };
  const limits = { concurrency: 4 };
  const run = { clock, random: seededRandom(7), ask, end: { items: 20 }, limits };
  expect(await simulateBatch(run)).toMatchObject({ succeeded: 0, failed: 20 });
  // Three attempts each; three refusals in a row are still taken for strays, which are free.
  expect(requests).toBeLessThanOrEqual(20 * 3 + 3);
});

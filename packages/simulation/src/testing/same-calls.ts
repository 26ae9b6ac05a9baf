import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../time/random.ts";
import { PlayedStores } from "./played-stores.ts";
import { randomCalls } from "./random-calls.ts";
import { exportOf, play } from "./store-calls.ts";

const CALLS = 30;

/** Tests that sequences of calls return the same from a store in memory and from PostgreSQL. */
export function testSameCalls(sequences: number): void {
  let stores: PlayedStores;
  beforeAll(async () => void (stores = await PlayedStores.open()));
  afterAll(() => stores[Symbol.asyncDispose]());

  const seeds = Array.from({ length: sequences }, (_, seed) => seed);
  test.each(seeds)(
    "calls of three sessions return what PostgreSQL returns, sequence %d",
    async (seed) => {
      const [postgres, memory] = [await stores.postgres(), stores.memory()];
      for (const [at, call] of randomCalls(new Random(seed, "calls"), CALLS).entries()) {
        const expected = await play(call, postgres);
        const outcome = await play(call, memory);
        expect({ at, call, outcome }).toEqual({ at, call, outcome: expected });
      }
      expect(await exportOf(memory)).toEqual(await exportOf(postgres));
    },
  );
}

import { describe, expect, test } from "vitest";
import { exactWorlds, playRounds, playTurns, promiseWorlds } from "../testing/promise-worlds.ts";

describe.each([...promiseWorlds, ...exactWorlds])("$name", (world) => {
  test("a promise comes as soon as it should, and none is broken", () => {
    const { median, broken } = playRounds(world, 15, world.isExact ? 160 : 600);
    expect(median).toBeLessThanOrEqual(world.medianLabels ?? Infinity);
    // One round of fifteen may be broken by chance; test:promises plays a thousand.
    expect(broken).toBeLessThanOrEqual(1 / 15);
  });
});

test.each([
  [0.01, 0.01],
  [0.03, 0.03],
  [0.04, 0.04],
])("a promise whose risk stays %s is withdrawn in at most 5 %% of rounds", (before, after) => {
  const { promised, withdrawn } = playTurns({ before, after, rounds: 60 });
  expect(withdrawn).toBeLessThanOrEqual(Math.max(1, 0.05 * promised));
});

test.each([
  [0.33, 0.95],
  [0.2, 0.9],
  [0.1, 0.4],
])("a promise whose risk turns from 1 %% to %s is withdrawn in most rounds", (after, least) => {
  const { promised, withdrawn } = playTurns({ before: 0.01, after, rounds: 60 });
  expect(withdrawn / promised).toBeGreaterThanOrEqual(least);
});

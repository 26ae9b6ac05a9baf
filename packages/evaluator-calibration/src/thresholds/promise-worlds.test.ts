import { describe, expect, test } from "vitest";
import {
  exactWorlds,
  playRounds,
  playTurns,
  promiseWorlds,
  turnWorlds,
} from "../testing/promise-worlds.ts";

describe.each([...promiseWorlds, ...exactWorlds])("$name", (world) => {
  test("a promise comes as soon as it should, and none is broken", () => {
    const { median, broken } = playRounds(world, 15, world.isExact ? 160 : 600);
    expect(median).toBeLessThanOrEqual(world.medianLabels ?? Infinity);
    // One round of fifteen may be broken by chance; test:promises plays a thousand.
    expect(broken).toBeLessThanOrEqual(1 / 15);
  });
});

test.each(turnWorlds)("seldom $name", (world) => {
  expect(playTurns(world, 60)).toBeLessThanOrEqual(world.limit);
});

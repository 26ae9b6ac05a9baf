import { expect, test } from "vitest";
import { readArguments } from "./read-arguments.ts";

test("the defaults are port 8787, the paid tier and seed 1", () => {
  expect(readArguments([])).toEqual({ port: 8787, tier: "paid", seed: 1 });
});

test("every argument can be set", () => {
  expect(readArguments(["--port", "0", "--tier=free", "--seed", "42"])).toEqual({
    port: 0,
    tier: "free",
    seed: 42,
  });
});

test.each([
  [["--port", "http"], "--port must be a whole number from 0 to 65535."],
  [["--port", "70000"], "--port must be a whole number from 0 to 65535."],
  [["--seed", "-1"], "seed"],
  [["--tier", "gold"], "--tier must be free or paid."],
  [["--unknown"], "--unknown"],
  [["stray"], "stray"],
])("%j is refused by name", (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});

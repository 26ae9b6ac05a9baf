import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";

test("the defaults are port 8787, the paid tier and seed 1", () => {
  expect(readArguments([], "/home")).toEqual({
    port: 8787,
    tier: "paid",
    seed: 1,
    faults: [],
    rulesPath: null,
  });
});

test("every argument can be set", () => {
  const args =
    "--port 0 --tier=free --seed 42 --fault hang,next=1 --fault=reset,rate=0.5 --latency 20";
  expect(readArguments([...args.split(" "), "--rules", "my/rules.json"], "/home")).toEqual({
    port: 0,
    tier: "free",
    seed: 42,
    faults: [
      { kind: "hang", next: 1 },
      { kind: "reset", rate: 0.5 },
      { kind: "latency", latencyMs: 20 },
    ],
    rulesPath: "/home/my/rules.json",
  });
});

test.each([
  [["--port", "http"], "--port takes a whole number from 0 to 65535, such as --port 1."],
  [["--port", "70000"], "--port takes a whole number from 0 to 65535, such as --port 1."],
  [["--seed", "-1"], "seed"],
  [["--tier", "gold"], '--tier takes one of free, paid, not "gold".'],
  [["--engine", "gpt"], "--engine takes one of openai, vllm, llama.cpp, ollama, sglang"],
  [["--latency", "soon"], "--latency takes a whole number from 0 to 600000, such as --latency 1."],
  [["--fault", "status=429,nxt=3"], '--fault status=429,nxt=3: Unrecognized key: "nxt"'],
  [["--unknown"], "--unknown"],
  [["stray"], "stray"],
])("%j is refused by name", (args, message) => {
  expect(() => readArguments(args, "/home")).toThrow(message);
});

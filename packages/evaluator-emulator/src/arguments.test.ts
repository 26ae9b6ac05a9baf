import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";

test("the defaults are port 8787, the paid tier and seed 1", () => {
  expect(readArguments([], "/home")).toEqual({
    host: "127.0.0.1",
    port: 8787,
    allowedHosts: [],
    tls: null,
    tier: "paid",
    seed: 1,
    decimals: 2,
    confidence: true,
    faults: [],
    rulesPath: null,
  });
});

test("every argument can be set", () => {
  const args =
    "--port 0 --tier=free --seed 42 --fault hang,next=1 --fault=reset,rate=0.5 --latency 20 --jitter 5 --host 0.0.0.0 --allow-host emulator --tls ca.pem --decimals 4 --no-confidence --limits --burst 50";
  expect(readArguments([...args.split(" "), "--rules", "my/rules.json"], "/home")).toEqual({
    host: "0.0.0.0",
    port: 0,
    allowedHosts: ["emulator"],
    tls: { made: "/home/ca.pem" },
    tier: "free",
    seed: 42,
    decimals: 4,
    confidence: false,
    limits: { burst: 50 },
    faults: [
      { kind: "hang", next: 1 },
      { kind: "reset", rate: 0.5 },
      { kind: "latency", latencyMs: 20, jitterMs: 5 },
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
  [["--burst", "0"], "--burst takes a whole number from 1"],
  [["--tls", "a", "--cert", "b"], "--tls makes a certificate"],
  [["--cert", "b"], "--cert and --key belong together"],
  [["--unknown"], "--unknown"],
  [["stray"], "stray"],
])("%j is rejected by name", (args, message) => {
  expect(() => readArguments(args, "/home")).toThrow(message);
});

import { runCommand } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { emulatorCommand, type Settings } from "./arguments.ts";

async function readArguments(words: readonly string[], cwd: string): Promise<Settings | null> {
  const context = createTestContext({ cwd });
  let settings: Settings | null = null;
  const start = async (read: Settings) => void (settings = read);
  await runCommand(emulatorCommand("evaluator-emulator", { context, start }), words, context);
  return settings;
}

test("the defaults are no port, the paid tier and seed 1", async () => {
  expect(await readArguments([], "/home")).toEqual({
    host: "127.0.0.1",
    allowedHosts: [],
    tls: null,
    tier: "paid",
    seed: 1,
    confidence: true,
    faults: [],
    rulesPath: null,
  });
});

test("every option can be set", async () => {
  const args =
    "--port 0 --tier=free --seed 42 --fault hang,next=1 --fault=reset,rate=0.5 --latency 20 --jitter 5 --host 0.0.0.0 --allow-host emulator --tls ca.pem --decimals 4 --no-confidence --limits --burst 50";
  expect(await readArguments([...args.split(" "), "--rules", "my/rules.json"], "/home")).toEqual({
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
  [
    ["--port", "http"],
    "'--port <n>' argument 'http' is invalid. Use a whole number from 0 to 65535",
  ],
  [["--port", "70000"], "Use a whole number from 0 to 65535"],
  [["--seed", "-1"], "seed"],
  [
    ["--tier", "gold"],
    "'--tier <tier>' argument 'gold' is invalid. Allowed choices are free, paid.",
  ],
  [["--engine", "gpt"], "Allowed choices are openai, vllm, llama.cpp, ollama, sglang."],
  [["--latency", "soon"], "Use a whole number from 0 to 600000, such as 1."],
  [["--fault", "status=429,nxt=3"], '--fault status=429,nxt=3: Unrecognized key: "nxt"'],
  [["--burst", "0"], "Use a whole number from 1"],
  [["--tls", "a", "--cert", "b"], "'--tls <file>' cannot be used with option '--cert <file>'"],
  [["--cert", "b"], "--cert and --key belong together"],
  [["--unknown"], "--unknown"],
  [["--faults", "hang"], "(Did you mean --fault?)"],
  [["stray"], "stray"],
])("%j is rejected by name", async (args, message) => {
  await expect(readArguments(args, "/home")).rejects.toThrow(message);
});

import { resolve } from "node:path";
import { parseWords, readPositionals, readWholeNumber, readWord } from "evaluator-cli-kit";
import type { Tier } from "./accounts.ts";
import { type EngineName, engineNames } from "./engine/engine-routes.ts";
import { type Fault, parseFault } from "./faults/fault.ts";

/** What the command line asks for. */
export interface EmulatorArguments {
  readonly port: number;
  readonly tier: Tier;
  readonly seed: number;
  /** The faults in the order given, a latency last. */
  readonly faults: readonly Fault[];
  /** The chat server to play as well, or undefined. */
  readonly engine?: EngineName;
  /** The path of the rules file, or null. */
  readonly rulesPath: string | null;
}

/** How the emulator is started. */
export const usage = `npm run emulator -- [--port 8787] [--tier free|paid] [--seed 1] [--rules FILE]
  [--engine openai|vllm|llama.cpp|ollama|sglang]
  [--latency MS] [--fault KIND[=VALUE][,retry-after=S][,next=N][,rate=R][,path=P]]...
  such as --fault status=429,retry-after=2,next=3,path=/v4/ai/evaluation-model
`;

const options = {
  port: { type: "string", default: "8787" },
  tier: { type: "string", default: "paid" },
  seed: { type: "string", default: "1" },
  latency: { type: "string" },
  fault: { type: "string", multiple: true, default: [] as string[] },
  rules: { type: "string" },
  engine: { type: "string" },
} as const;

/**
 * Reads the command line.
 *
 * @param cwd - The folder that a relative path starts from.
 * @throws UsageError that names the argument and what it may be.
 */
export function readArguments(words: readonly string[], cwd: string): EmulatorArguments {
  const { values, positionals } = parseWords(words, options);
  readPositionals(positionals, []);
  return {
    port: readWholeNumber("--port", values.port, { max: 65_535 }),
    tier: readWord("--tier", values.tier, ["free", "paid"]),
    seed: readWholeNumber("--seed", values.seed, { max: 2 ** 32 - 1 }),
    faults: [...values.fault.map(parseFault), ...readLatency(values.latency)],
    ...(values.engine !== undefined && {
      engine: readWord("--engine", values.engine, engineNames),
    }),
    rulesPath: values.rules === undefined ? null : resolve(cwd, values.rules),
  };
}

function readLatency(text: string | undefined): Fault[] {
  if (text === undefined) return [];
  return [{ kind: "latency", latencyMs: readWholeNumber("--latency", text, { max: 600_000 }) }];
}

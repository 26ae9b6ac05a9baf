import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Tier } from "./accounts/account.ts";
import type { Fault } from "./faults/fault.ts";
import { parseFault } from "./faults/parse-fault.ts";

/** What the command line asks for. */
export interface EmulatorArguments {
  readonly port: number;
  readonly tier: Tier;
  readonly seed: number;
  /** The faults in the order given, a latency last. */
  readonly faults: readonly Fault[];
  /** The path of the rules file, or null. */
  readonly rulesPath: string | null;
}

/** How to start the emulator. */
export const usageText = `npm run emulator -- [--port 8787] [--tier free|paid] [--seed 1] [--rules FILE]
  [--latency MS] [--fault KIND[=VALUE][,retry-after=S][,next=N][,rate=R][,path=P]]...
  such as --fault status=429,retry-after=2,next=3,path=/v4/ai/evaluation-model`;

/**
 * Reads the command line.
 *
 * @param cwd - The folder that a relative path starts from.
 * @throws {Error} names the argument and what it may be.
 */
export function readArguments(args: readonly string[], cwd: string): EmulatorArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "8787" },
      tier: { type: "string", default: "paid" },
      seed: { type: "string", default: "1" },
      latency: { type: "string" },
      fault: { type: "string", multiple: true, default: [] },
      rules: { type: "string" },
    },
  });
  return {
    port: readWholeNumber("--port", values.port, 65_535),
    tier: readTier(values.tier),
    seed: readWholeNumber("--seed", values.seed, 2 ** 32 - 1),
    faults: [...values.fault.map(parseFault), ...readLatency(values.latency)],
    rulesPath: values.rules === undefined ? null : resolve(cwd, values.rules),
  };
}

function readLatency(text: string | undefined): Fault[] {
  if (text === undefined) return [];
  return [{ kind: "latency", latencyMs: readWholeNumber("--latency", text, 600_000) }];
}

function readWholeNumber(name: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw new Error(`${name} must be a whole number from 0 to ${most}.`);
}

function readTier(text: string): Tier {
  if (text === "free" || text === "paid") return text;
  throw new Error("--tier must be free or paid.");
}

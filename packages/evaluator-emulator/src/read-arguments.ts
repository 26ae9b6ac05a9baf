import { parseArgs } from "node:util";
import type { Tier } from "./accounts/account.ts";

/** What the command line asks for. */
export interface EmulatorArguments {
  readonly port: number;
  readonly tier: Tier;
  readonly seed: number;
}

/** How to start the emulator. */
export const usageText = `npm run emulator -- [--port 8787] [--tier free|paid] [--seed 1]`;

/**
 * Reads the command line.
 *
 * @throws {Error} names the argument and what it may be.
 */
export function readArguments(args: readonly string[]): EmulatorArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "8787" },
      tier: { type: "string", default: "paid" },
      seed: { type: "string", default: "1" },
    },
  });
  return {
    port: readWholeNumber("--port", values.port, 65_535),
    tier: readTier(values.tier),
    seed: readWholeNumber("--seed", values.seed, 2 ** 32 - 1),
  };
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

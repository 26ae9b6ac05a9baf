import { systemClock, runToExitCode } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { exchangesFolder, type LiveContext } from "../live/live-context.ts";
import { liveService } from "./live-service.ts";

/** How a run ended and what it printed. */
export interface RunOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A gateway key and a vendor's key that no service ever gave out. */
export const testKeys = {
  gateway: ["gate", "5Kx0", "Pq7Z", "w1Tb"].join("-"),
  direct: ["vend", "8Rm2", "Lc4Y", "n6Hd"].join("-"),
};

/** Returns a clock that stands still on the evening of 21 November 2026. */
export const stoppedClock: LiveContext["clock"] = {
  ...systemClock,
  today: () => new Date("2026-11-21T23:59:59Z"),
  schedule: () => () => undefined,
};

/** Runs a program in this process, with both keys and an emulator in the part of the service. */
export async function startRun(
  run: (words: readonly string[], context: LiveContext) => Promise<number>,
  words: readonly string[],
  given: Partial<LiveContext> = {},
): Promise<RunOutcome> {
  const context = createTestContext({
    env: { AI_GATEWAY_API_KEY: testKeys.gateway, EVALUATOR_DIRECT_API_KEY: testKeys.direct },
    clock: stoppedClock,
    ...given,
  });
  const live = { fetch: liveService(), timeoutMs: 30_000, exchangesFolder, ...given, ...context };
  const exitCode = await runToExitCode((typed) => run(typed, live), words, {
    name: "The program",
    context,
  });
  return { exitCode, ...context.printed };
}

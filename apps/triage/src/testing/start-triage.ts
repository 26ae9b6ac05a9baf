import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, runToExitCode, systemClock, trimEnvironment } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import type { Transport } from "evaluator-client";
import { openCatalog, openRuns, openTransport, type ProgramContext } from "evaluator-runs/commands";
import { z } from "zod";
import { mailSource } from "../mail-source.ts";
import { runTriage } from "../triage.ts";
import { recordingTransport } from "./samples.ts";

/** How a run ended and what it printed. */
export interface TriageOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the command in this process, answered by a transport unless told otherwise. */
export async function startTriage(
  argv: readonly string[],
  {
    transport = recordingTransport(),
    ...given
  }: Partial<ProgramContext> & { transport?: Transport },
): Promise<TriageOutcome> {
  const env = trimEnvironment(given.env ?? {}); // as every program has it
  const context = createTestContext({ clock: stoppedClock, ...given, env });
  const ways = {
    openTransport: async () => transport,
    openCatalog: async () => null,
    openRuns,
    source: mailSource,
    ...given,
    env,
  };
  const exitCode = await runToExitCode(
    (words, program) => runTriage(words, { ...program, ...ways }),
    argv,
    { name: "The triage", context },
  );
  return { exitCode, ...context.printed };
}

/** Runs on a folder's `inbox.json` in this process, one call after the other, and asks a gateway. */
export async function startOnGateway(cwd: string, gatewayBaseUrl: string): Promise<TriageOutcome> {
  const env = { AI_GATEWAY_API_KEY: "any", EVALUATOR_BASE_URL: gatewayBaseUrl };
  const services = { openTransport, openCatalog, clock: systemClock };
  return await startTriage(["inbox.json", "--concurrency", "1"], { cwd, env, ...services });
}

/** Makes a folder whose `inbox.json` holds the input, for the length of the test. */
export async function folderWith(input: unknown): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "inbox.json"), JSON.stringify(input));
  return folder;
}

/** Reads the results beside `inbox.json`. */
export async function readResults(folder: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(folder, "inbox.triage.json"), "utf8");
  return z.array(z.looseObject({})).parse(JSON.parse(text));
}

/** A clock that stands still: nothing scheduled on it ever comes. */
export const stoppedClock: Clock = {
  now: () => 0,
  epochNow: () => Date.parse("2026-11-21T12:00:00Z"),
  schedule: () => () => {},
};

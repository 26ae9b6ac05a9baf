import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createEmulator } from "evaluator-emulator";
import {
  type CliContext,
  createCommand,
  runCommand,
  runToExitCode,
  systemClock,
} from "evaluator-kit";
import { compileCache, createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import { reportCommands } from "../commands/report-commands.ts";
import { record } from "../record/record.ts";
import { liveService } from "./live-service.ts";

/** The folder of the recorded exchanges in `fixtures`. */
export const exchangesFolder = fileURLToPath(import.meta.resolve("evaluator-fixtures/exchanges"));

/** A gateway key and a vendor's key that no service ever issued. */
export const testKeys = {
  gateway: ["gate", "5Kx0", "Pq7Z", "w1Tb"].join("-"),
  direct: ["vend", "8Rm2", "Lc4Y", "n6Hd"].join("-"),
};

/** A clock that stopped on the evening of 21 November 2026. */
export const stoppedClock: CliContext["clock"] = {
  ...systemClock,
  today: () => new Date("2026-11-21T23:59:59Z"),
  schedule: () => () => undefined,
};

/** What a run is given instead of a machine and a live service. */
interface Given extends Partial<CliContext> {
  readonly fetch?: typeof globalThis.fetch;
  readonly timeoutMs?: number;
  readonly exchangesFolder?: string;
}

/** Runs `evaluator record` in this process, with both keys and an emulator as the service. */
export async function startRecord(words: readonly string[], given: Given = {}) {
  const { fetch = liveService(), timeoutMs = 30_000, exchangesFolder: folder, ...machine } = given;
  const context = createTestContext({
    env: { AI_GATEWAY_API_KEY: testKeys.gateway, EVALUATOR_DIRECT_API_KEY: testKeys.direct },
    clock: stoppedClock,
    ...machine,
  });
  const program = createCommand("evaluator", { context, version: "0.0.0" });
  reportCommands.record(program).action(async (names, options) => {
    await record({ ...options, names }, context, { fetch, timeoutMs });
  });
  const all = ["record", "--exchanges", folder ?? exchangesFolder, ...words];
  const run = (typed: readonly string[]) => runCommand(program, typed, context);
  const exitCode = await runToExitCode(run, all, { name: "The program", context });
  return { exitCode, ...context.printed };
}

/** Records into a new folder, and returns it and the names of the files there. */
export async function recordInto(names: readonly string[], given: Given = {}) {
  const folder = await temporaryFolder();
  const outcome = await startRecord([...names, "--out", folder], given);
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const written = files.filter((file) => file.isFile()).map(({ name }) => name);
  return { ...outcome, folder, written };
}

/** Starts `npm run evaluator -- record` with the given environment. */
export function startProgram(words: readonly string[], env: Readonly<Record<string, string>>) {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const all = [main, "record", "--exchanges", exchangesFolder, ...words];
  return promisify(execFile)(process.execPath, all, { env: { ...compileCache, ...env } });
}

/** Starts an emulator over HTTP until the test ends, and returns the environment that leads to it. */
export async function startKeyedEmulator() {
  const emulator = createEmulator({ keys: Object.values(testKeys) });
  const { gatewayBaseUrl, directBaseUrl } = await emulator.listen();
  onTestFinished(() => emulator.close());
  return {
    AI_GATEWAY_API_KEY: testKeys.gateway,
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    EVALUATOR_DIRECT_API_KEY: testKeys.direct,
    EVALUATOR_DIRECT_BASE_URL: directBaseUrl,
  };
}

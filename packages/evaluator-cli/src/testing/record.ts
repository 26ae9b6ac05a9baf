import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import {
  type CliContext,
  createCommand,
  runCommand,
  runToExitCode,
  systemClock,
} from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
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
  epochNow: () => Date.parse("2026-11-21T23:59:59Z"),
  schedule: () => () => undefined,
};

/** What a run is given instead of a machine and a live service. */
interface Given extends Partial<CliContext> {
  readonly fetch?: typeof globalThis.fetch;
  readonly exchangesFolder?: string;
}

/** Runs `evaluator-cli record` in this process, with both keys and an emulator as the service. */
export async function startRecord(words: readonly string[], given: Given = {}) {
  const { fetch = liveService(), exchangesFolder: folder, ...machine } = given;
  const context = createTestContext({
    env: { AI_GATEWAY_API_KEY: testKeys.gateway, EVALUATOR_DIRECT_API_KEY: testKeys.direct },
    clock: stoppedClock,
    ...machine,
  });
  const program = createCommand("evaluator-cli", { context, version: "0.0.0" });
  reportCommands.record(program).action(async (names, options) => {
    await record({ ...options, names }, context, fetch);
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

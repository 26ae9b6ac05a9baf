import { readdir } from "node:fs/promises";
import { temporaryFolder } from "evaluator-kit/testing";
import { runRecorder } from "../record/run-recorder.ts";
import { startRun } from "./start-run.ts";

/** Records into a new folder, and gives it and the names of the files there. */
export async function recordInto(
  names: readonly string[],
  given: Parameters<typeof startRun>[2] = {},
) {
  const folder = await temporaryFolder();
  const outcome = await startRun(runRecorder, [...names, "--out", folder], given);
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const written = files.filter((file) => file.isFile()).map(({ name }) => name);
  return { ...outcome, folder, written };
}

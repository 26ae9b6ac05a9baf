import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { type CliContext, systemClock } from "../index.ts";

export { compileCache } from "./compile-cache.ts";

/** Returns a context with nothing set, in the root folder, that nobody interrupts; it keeps what is printed. */
export function createTestContext(contextParts: Partial<CliContext> = {}) {
  const printedTexts = { stdout: "", stderr: "" };
  const context: CliContext = {
    env: {},
    cwd: "/",
    stdin: Readable.from([]),
    stdout: { write: (text) => (printedTexts.stdout += text) },
    stderr: { write: (text) => (printedTexts.stderr += text) },
    signal: new AbortController().signal,
    clock: systemClock,
    exitCode: 0,
    confirm: null,
    ...contextParts,
  };
  return Object.assign(context, { printed: printedTexts });
}

/** Returns the path of a new folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "evaluator-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

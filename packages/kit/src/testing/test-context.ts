import { Readable } from "node:stream";
import { type CliContext, systemClock } from "../index.ts";

/** A context whose streams are kept as text. */
export interface TestContext extends CliContext {
  /** What was printed so far. */
  readonly printed: { stdout: string; stderr: string };
}

/** Returns a context with nothing set, in the root folder, that nobody interrupts. */
export function createTestContext(given: Partial<CliContext> = {}): TestContext {
  const printed = { stdout: "", stderr: "" };
  return {
    env: {},
    cwd: "/",
    stdin: Readable.from([]),
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: { write: (text) => (printed.stderr += text) },
    signal: new AbortController().signal,
    clock: systemClock,
    exitCode: 0,
    confirm: null,
    ...given,
    printed,
  };
}

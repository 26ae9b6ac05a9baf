import { TriageError, UsageError } from "./errors.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { Surroundings } from "./surroundings.ts";
import { triageFile } from "./triage-file.ts";
import { usage } from "./usage.ts";

/** Runs the command a person typed, and gives the exit code: 0, 1, 64 or 130. */
export async function runTriage(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  try {
    const command = parseArguments(argv);
    if (command.name === "help") surroundings.stdout.write(usage);
    else await triageFile(command, surroundings);
    return 0;
  } catch (error) {
    return reportFailure(error, surroundings);
  }
}

function reportFailure(error: unknown, { signal, stderr }: Surroundings): number {
  if (signal.aborted && error === signal.reason) {
    stderr.write("Interrupted; no results were written.\n");
    return 130;
  }
  if (!(error instanceof TriageError)) throw error;
  stderr.write(`${error.message}\n`);
  if (error instanceof UsageError) stderr.write(`\n${usage}`);
  return error.exitCode;
}

import { parseArguments, type TriageCommand } from "./arguments/parse-arguments.ts";
import { InterruptedError } from "./errors.ts";
import { explainMail } from "./explain.ts";
import { triageFile } from "./run/triage-file.ts";
import type { Surroundings } from "./surroundings.ts";
import { usage } from "./usage.ts";

/**
 * Runs the command a person typed, and returns the exit code: 0 all fine, 2 some records failed.
 *
 * @throws TriageError that says what is wrong, with its exit code: 1, 64 mistyped, 130 interrupted.
 */
export async function runTriage(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { signal } = surroundings;
  try {
    return await runCommand(parseArguments(argv), surroundings);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new InterruptedError("Interrupted; nothing was written.", signal);
  }
}

async function runCommand(command: TriageCommand, surroundings: Surroundings): Promise<number> {
  if (command.name === "help") {
    surroundings.stdout.write(usage);
    return 0;
  }
  if (command.name === "run") return await triageFile(command, surroundings);
  if (command.name === "explain") return await explainMail(command, surroundings);
  // Only these need the libraries for mail and for plots.
  if (command.name === "import") {
    const { importMails } = await import("./import/import-mails.ts");
    return await importMails(command, surroundings);
  }
  const { writeReport } = await import("./report/write-report.ts");
  return await writeReport(command, surroundings);
}

import { parseArguments, type TriageCommand } from "./arguments/parse-arguments.ts";
import { explainMail } from "./explain/explain-mail.ts";
import { TriageError, UsageError } from "./errors.ts";
import type { Surroundings } from "./surroundings.ts";
import { triageFile } from "./triage-file.ts";
import { usage } from "./usage.ts";

/**
 * Runs the command a person typed, and gives the exit code: 0 all fine, 1 nothing written,
 * 2 some records failed, 64 mistyped, 130 interrupted.
 */
export async function runTriage(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  try {
    return await runCommand(parseArguments(argv), surroundings);
  } catch (error) {
    return reportFailure(error, surroundings);
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

function reportFailure(error: unknown, { stderr, signal }: Surroundings): number {
  if (signal.aborted && error === signal.reason) {
    stderr.write("Interrupted; nothing was written.\n");
    return 130;
  }
  if (!(error instanceof TriageError)) throw error;
  stderr.write(`${error.message}\n`);
  if (error instanceof UsageError) stderr.write(`\n${usage}`);
  return error.exitCode;
}

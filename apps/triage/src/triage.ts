import { UsageError } from "evaluator-cli-kit";
import { readArguments } from "./arguments.ts";
import type { TriageCommand, TriageRun, WorkCommand } from "./commands.ts";
import { findJournalPlace, needJournalPlace } from "./journal-place.ts";
import { interrupted } from "./run/interruption.ts";
import type { TriageContext } from "./service.ts";

/**
 * Runs the command a person typed, and returns the exit code: 0 all fine, 2 some records failed.
 *
 * @throws CliError that says what is wrong, with its exit code: 1, 64 mistyped, 130 interrupted.
 */
export async function runTriage(argv: readonly string[], context: TriageContext): Promise<number> {
  const { signal } = context;
  try {
    return await runCommand(readArguments(argv), context);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw interrupted("Interrupted; nothing was written.", signal);
  }
}

// Each loads what it needs: all of it together would be half of what a short command takes.
async function runCommand(command: TriageCommand, context: TriageContext): Promise<number> {
  if (command.name === "run") return await runOrJoin(command, context);
  if (command.name === "work") return await work(command, context);
  if (command.name === "status") {
    const { showStatus } = await import("./status.ts");
    return await showStatus(command, context);
  }
  if (command.name === "export") {
    const { exportResults } = await import("./export.ts");
    return await exportResults(command, context);
  }
  if (command.name === "explain") {
    const { explainMail } = await import("./explain.ts");
    return await explainMail(command, context);
  }
  if (command.name === "query") {
    const { queryJournal } = await import("./query/query-journal.ts");
    return await queryJournal(command, context);
  }
  if (command.name === "questions") {
    const { checkQuestions } = await import("./questions/check-questions.ts");
    return await checkQuestions(command, context);
  }
  if (command.name === "import") {
    const { importMails } = await import("./import/import-mails.ts");
    return await importMails(command, context);
  }
  if (command.name === "label") {
    const { labelMails } = await import("./label/label-mails.ts");
    return await labelMails(command, context);
  }
  const { writeReport } = await import("./report/write-report.ts");
  return await writeReport(command, context);
}

async function runOrJoin(command: TriageRun, context: TriageContext): Promise<number> {
  const place = findJournalPlace(command, context);
  if (place?.kind !== "postgres") {
    const { triageFile } = await import("./run/triage-file.ts");
    return await triageFile(command, context);
  }
  const { runTogether } = await import("./postgres/run-together.ts");
  return await runTogether(command, place, context);
}

async function work(command: WorkCommand, context: TriageContext): Promise<number> {
  const place = await needJournalPlace(command, context);
  if (place.kind === "sqlite") {
    if (command.wait) throw new UsageError("--wait belongs to a journal in PostgreSQL.");
    const { goOn } = await import("./run/go-on.ts");
    return await goOn(command, place.path, context);
  }
  const { workOnRuns } = await import("./postgres/work.ts");
  return await workOnRuns(command, place.url, context);
}

import { UsageError } from "evaluator-kit";
import {
  readArguments,
  type TriageCommand,
  type TriageRun,
  type WorkCommand,
} from "./arguments.ts";
import { findJournalAddress, needJournalAddress } from "./journal-address.ts";
import { interrupted } from "./run/interruption.ts";
import type { TriageContext } from "./service.ts";

/**
 * Runs the command a person typed, and returns the exit code: 0 all fine, 2 some records failed.
 *
 * @param onLoad - Called when the program is loaded, before the command begins.
 * @throws CliError that says what is wrong, with its exit code: 1, 130 interrupted.
 */
export async function runTriage(
  argv: readonly string[],
  context: TriageContext,
  onLoad = () => {},
): Promise<number> {
  const { signal } = context;
  try {
    const run = await loadCommand(readArguments(argv), context);
    onLoad();
    return await run();
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw interrupted("Interrupted; nothing was written.", signal);
  }
}

type Run = () => Promise<number>;

// Each command loads what it needs: all of it together is half of what a short one takes.
async function loadCommand(command: TriageCommand, context: TriageContext): Promise<Run> {
  if (command.name === "run") return await loadRun(command, context);
  if (command.name === "work") return await loadWork(command, context);
  if (command.name === "status") {
    const { showStatus } = await import("./status.ts");
    return () => showStatus(command, context);
  }
  if (command.name === "export") {
    const { exportResults } = await import("./export.ts");
    return () => exportResults(command, context);
  }
  if (command.name === "explain") {
    const { explainMail } = await import("./explain.ts");
    return () => explainMail(command, context);
  }
  if (command.name === "query") {
    const { queryJournal } = await import("./query/query-journal.ts");
    return () => queryJournal(command, context);
  }
  if (command.name === "questions") {
    const { checkQuestions } = await import("./check-questions.ts");
    return () => checkQuestions(command, context);
  }
  if (command.name === "import") {
    const { importMails } = await import("./import/import-mails.ts");
    return () => importMails(command, context);
  }
  if (command.name === "label") {
    const { labelMails } = await import("./label/label-mails.ts");
    return () => labelMails(command, context);
  }
  const { writeReport } = await import("./report/write-report.ts");
  return () => writeReport(command, context);
}

async function loadRun(command: TriageRun, context: TriageContext): Promise<Run> {
  const address = findJournalAddress(command, context);
  if (address?.kind !== "postgres") {
    const { triageFile } = await import("./run/triage-file.ts");
    return () => triageFile(command, context);
  }
  const { runTogether } = await import("./postgres/run-together.ts");
  return () => runTogether(command, address, context);
}

async function loadWork(command: WorkCommand, context: TriageContext): Promise<Run> {
  const address = await needJournalAddress(command, context);
  if (address.kind === "sqlite") {
    if (command.wait) throw new UsageError("--wait belongs to a journal in PostgreSQL.");
    const { goOn } = await import("./run/go-on.ts");
    return () => goOn(command, address, context);
  }
  const { workOnRuns } = await import("./postgres/work.ts");
  return () => workOnRuns(command, address.url, context);
}

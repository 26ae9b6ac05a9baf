import { UsageError } from "evaluator-kit";
import type { RunCommand, TypedCommand, WorkCommand } from "../arguments.ts";
import { findJournalAddress, needJournalAddress } from "../journal-address.ts";
import type { ProgramContext } from "../service.ts";

type Run = () => Promise<number>;
type RunsCommand = Exclude<TypedCommand, { name: "questions" | "import" | "report" }>;

/** Loads the code of a command alone: all of it together is half of what a short one takes. */
export async function loadCommand(command: RunsCommand, context: ProgramContext): Promise<Run> {
  if (command.name === "run") return await loadRun(command, context);
  if (command.name === "work") return await loadWork(command, context);
  if (command.name === "status") {
    const { showStatus } = await import("../status.ts");
    return () => showStatus(command, context);
  }
  if (command.name === "export") {
    const { exportResults } = await import("../export.ts");
    return () => exportResults(command, context);
  }
  if (command.name === "explain") {
    const { explainMail } = await import("../explain.ts");
    return () => explainMail(command, context);
  }
  if (command.name === "query") {
    const { queryJournal } = await import("../query/query-journal.ts");
    return () => queryJournal(command, context);
  }
  const { labelRecords } = await import("../label/label-records.ts");
  return () => labelRecords(command, context);
}

async function loadRun(command: RunCommand, context: ProgramContext): Promise<Run> {
  const address = findJournalAddress(command, context);
  if (address?.kind !== "postgres") {
    const { runFile } = await import("../run/run-file.ts");
    return () => runFile(command, context);
  }
  const { runTogether } = await import("../workers/run-together.ts");
  return () => runTogether(command, address, context);
}

async function loadWork(command: WorkCommand, context: ProgramContext): Promise<Run> {
  const address = await needJournalAddress(command, context);
  if (address.kind === "sqlite") {
    if (command.wait) throw new UsageError("--wait belongs to a journal in PostgreSQL.");
    const { goOn } = await import("../run/go-on.ts");
    return () => goOn(command, address, context);
  }
  const { workOnRuns } = await import("../workers/work.ts");
  return () => workOnRuns(command, address.url, context);
}

import { type Command, UsageError } from "evaluator-kit";
import { type JournalAddress, needJournalAddress, toJournalAddress } from "../journal-address.ts";
import { declareCommands, type RunCommand, type WorkCommand } from "../options.ts";
import type { PlanRun } from "../run/start-run.ts";
import type { ProgramContext } from "../service.ts";
import { optionalFile, sharedOptions } from "../shared-options.ts";

/**
 * Adds `run`, `work`, `status`, `query`, `export`, `label` and `act` to a program of the kit.
 *
 * @example
 * const program = createCommand("tickets", { context, version: "1.0.0" });
 * addRunCommands(program, { ...context, source, openTransport, openCatalog, openRuns });
 * return runCommand(program, words, context);
 */
export function addRunCommands(topProgram: Command, context: ProgramContext): void {
  const { source } = context;
  const declaredCommand = declareCommands(topProgram, context);
  const { run, work, status, query, export: exportedCommand, label, act } = declaredCommand;
  // An action imports its command's code: loading all of it would add half the time of a short run.
  run.action(async (file, options) => {
    const state = source.readState(options);
    const startLoaded = await loadRun({ ...options, file, state }, context);
    await runAction(context, startLoaded);
  });
  work.action(async (file, options) => {
    await runAction(context, await loadWork({ ...options, file }, context));
  });
  status.action(async (file, options) => {
    const { showStatus } = await import("../status.ts");
    await runAction(context, () => showStatus({ ...options, file }, context));
  });
  query.action(async (text, file, options) => {
    const { queryJournal } = await import("../query/query-journal.ts");
    const orderedWords = isFile(text) ? { file: text, text: file } : { file, text };
    await runAction(context, () => queryJournal({ ...options, ...orderedWords }, context));
  });
  exportedCommand.action(async (file, options) => {
    const { exportResults } = await import("../export.ts");
    await runAction(context, () => exportResults({ ...options, file }, context));
  });
  label.action(async (file, options) => {
    const { labelRecords } = await import("../label/label-records.ts");
    await runAction(context, () => labelRecords({ ...options, file }, context));
  });
  act.action(async (file, options) => {
    const { printActs } = await import("../act.ts");
    await runAction(context, () => printActs({ ...options, file }, context));
  });
}

/** Adds `explain`, which prints all that a journal knows of one record. */
export function addExplain(topProgram: Command, context: ProgramContext): void {
  const { source } = context;
  topProgram
    .command("explain")
    .description(`print the state, questions and answers of one ${source.word}`)
    .argument("<id>", `the id of the ${source.word}`)
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .action(async (id, file, options) => {
      const { explainRecord } = await import("../explain.ts");
      await runAction(context, () => explainRecord({ ...options, id, file }, context));
    });
}

type Run = () => Promise<number>;

/** Runs a command that is loaded, and sets the program's exit code. */
export async function runAction(context: ProgramContext, runCommand: Run): Promise<void> {
  context.onLoad?.();
  context.exitCode = await runCommand();
}

/** Loads the action of `run`. */
export async function loadRun(command: RunCommand, context: ProgramContext): Promise<Run> {
  const journalAddress = await toJournalAddress(command, context);
  const { startRun } = await import("../run/start-run.ts");
  const planRun = await loadPlan(journalAddress);
  return () => startRun(command, planRun, context);
}

async function loadPlan(journalAddress: JournalAddress): Promise<PlanRun> {
  if (journalAddress.kind === "sqlite") return (await import("../run/plan-in-file.ts")).planInFile;
  return (await import("../workers/plan-together.ts")).planTogether(journalAddress.url);
}

/** Loads the action of `work`. */
export async function loadWork(command: WorkCommand, context: ProgramContext): Promise<Run> {
  const journalAddress = await needJournalAddress(command, context);
  if (journalAddress.kind === "sqlite") {
    if (command.wait) throw new UsageError("--wait belongs to a journal in PostgreSQL.");
    const { goOn } = await import("../run/go-on.ts");
    return () => goOn(command, journalAddress, context);
  }
  const { workOnRuns } = await import("../workers/work.ts");
  return () => workOnRuns(command, journalAddress.url, context);
}

// All other commands take the file first. One word without a space is no query.
function isFile(typedWord = ""): boolean {
  return /^(?:-|\S+\.(?:json|ndjson|jsonl|csv|tsv|sqlite))$/i.test(typedWord);
}

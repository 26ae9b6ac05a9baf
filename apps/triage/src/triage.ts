import {
  interrupted,
  loadCommand,
  type ProgramContext,
  readArguments,
} from "evaluator-runs/commands";
import { stateFields } from "./input/mail.ts";

/**
 * Runs the command a person typed, and returns the exit code: 0 all fine, 2 some records failed.
 *
 * @param onLoad - Called when the program is loaded, before the command begins.
 * @throws CliError that says what is wrong, with its exit code: 1, 130 interrupted.
 */
export async function runTriage(
  argv: readonly string[],
  context: ProgramContext,
  onLoad = () => {},
): Promise<number> {
  const { signal } = context;
  try {
    const run = await load(argv, context);
    onLoad();
    return await run();
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw interrupted("Interrupted; nothing was written.", signal);
  }
}

// Each command loads what it needs: all of it together is half of what a short one takes.
async function load(words: readonly string[], context: ProgramContext) {
  const command = readArguments(words, stateFields);
  if (command.name === "questions") {
    const { checkQuestions } = await import("./check-questions.ts");
    return () => checkQuestions(command, context);
  }
  if (command.name === "import") {
    const { importMails } = await import("./import/import-mails.ts");
    return () => importMails(command, context);
  }
  if (command.name === "report") {
    const { writeReport } = await import("./report/write-report.ts");
    return () => writeReport(command, context);
  }
  return await loadCommand(command, context);
}

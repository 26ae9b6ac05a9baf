import { createCommand, packageVersion, runCommand } from "evaluator-kit";
import {
  addRunCommands,
  examples,
  interrupted,
  loadExplain,
  type ProgramContext,
  runAction,
} from "evaluator-runs/commands";
import { explainCommand, importCommand, questionsCommands, reportCommand } from "./options.ts";

/**
 * Runs the typed command and returns its exit code.
 *
 * @throws CliError that reports the problem, with its exit code.
 */
export async function runTriage(
  words: readonly string[],
  context: ProgramContext,
): Promise<number> {
  const { signal } = context;
  const program = createProgram(context);
  const names = program.commands.map((command) => command.name());
  const isNamed =
    names.includes(words[0] ?? "") || /^(?:-h|--help|--version)$/.test(words[0] ?? "");
  const typed = isNamed ? words : ["run", ...words];
  try {
    return await runCommand(program, typed, context);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw interrupted("Interrupted; nothing was written.", signal);
  }
}

// An action imports its command's code: all of it together is half of what a short one takes.
function createProgram(context: ProgramContext) {
  const { source } = context;
  const version = packageVersion(import.meta.url);
  const program = createCommand(source.program, { context, version });
  program.addHelpText(
    "after",
    `${examples(...source.examples.map((words) => `${source.program} ${words}`))}

A file alone means: run file. Exit codes: 0 done; 1 wrong input, wrong words or failure; 2 some
records have no answer; 130, 143 interrupted.`,
  );
  addRunCommands(program, context);
  importCommand(program).action(async (from, output, options) => {
    const { importMails } = await import("./import/import-mails.ts");
    await runAction(context, () => importMails({ ...options, source: from, output }, context));
  });
  reportCommand(program).action(async (file, options) => {
    const { writeReport } = await import("./report/write-report.ts");
    await runAction(context, () => writeReport({ ...options, file }, context));
  });
  explainCommand(program).action(async (id, file, options) => {
    const explainRecord = await loadExplain();
    await runAction(context, () => explainRecord({ ...options, id, file }, context));
  });
  const { check, schema } = questionsCommands(program);
  check.action(async (file) => {
    const { checkQuestions } = await import("./check-questions.ts");
    await runAction(context, () => checkQuestions(file, context));
  });
  schema.action(async () => {
    const { printSchema } = await import("./check-questions.ts");
    await runAction(context, () => printSchema(context));
  });
  return program;
}

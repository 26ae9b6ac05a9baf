import { createCommand, runCommand, withUsualCommand } from "evaluator-kit";
import { addExplain, addRunCommands } from "../../commands/index.ts";
import type { ProgramContext } from "../../service.ts";

/** A program of tickets with the commands of runs. Returns its exit code. */
export async function runTickets(
  words: readonly string[],
  context: ProgramContext,
): Promise<number> {
  const program = createCommand(context.source.program, { context, version: "1.0.0" });
  addRunCommands(program, context);
  addExplain(program, context);
  const typedWords = withUsualCommand(program, words, { ...context, name: "run" });
  return await runCommand(program, typedWords, context);
}

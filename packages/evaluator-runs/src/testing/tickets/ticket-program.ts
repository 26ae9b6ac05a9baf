import { createCommand, runCommand, withUsualCommand } from "evaluator-kit";
import { addRunCommands, loadExplain, optionalFile, runAction } from "../../commands/index.ts";
import type { ProgramContext } from "../../service.ts";
import { sharedOptions } from "../../shared-options.ts";

/** A program of tickets with the commands of runs. Returns its exit code. */
export async function runTickets(
  words: readonly string[],
  context: ProgramContext,
): Promise<number> {
  const program = createCommand(context.source.program, { context, version: "1.0.0" });
  addRunCommands(program, context);
  program
    .command("explain")
    .argument("<id>", "the id of the ticket")
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(context.source))
    .addOption(sharedOptions.run)
    .action(async (id, file, options) => {
      const explainRecord = await loadExplain();
      await runAction(context, () => explainRecord({ ...options, id, file }, context));
    });
  const typedWords = withUsualCommand(program, words, { ...context, name: "run" });
  return await runCommand(program, typedWords, context);
}

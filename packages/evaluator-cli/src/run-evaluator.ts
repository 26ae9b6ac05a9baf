import { CalibrationInputError } from "evaluator-calibration";
import { CliError, type CliContext, toPrintablePath, UsageError } from "evaluator-cli-kit";
import { calibrateCommand } from "./calibrate/calibrate-command.ts";
import { checkCommand } from "./check-command.ts";
import { type Command, endings, toUsageFailure } from "./command.ts";
import { compareCommand } from "./compare/compare-command.ts";
import { driftCommand } from "./drift-command.ts";
import { askCommand } from "./engines/ask-command.ts";
import { doctorCommand } from "./engines/doctor-command.ts";
import { pickCommand } from "./pick-command.ts";

const commands: readonly Command[] = [
  askCommand,
  doctorCommand,
  calibrateCommand,
  pickCommand,
  checkCommand,
  driftCommand,
  compareCommand,
];

const width = Math.max(...commands.map(({ name }) => name.length));
const usage = [
  "Usage: evaluator COMMAND [options]",
  "",
  ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
  "",
  "evaluator COMMAND --help tells of its options.",
  "Ends with 0: holds. 1: broken, or bad input. 2: usage. 3: not enough labels.",
].join("\n");

/** Runs the command that was typed and returns its exit code. */
export async function runEvaluator(words: readonly string[], context: CliContext): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined) throw toUsageFailure("No command was given.", usage);
  if (name === "--help" || name === "-h" || name === "help") {
    context.stdout.write(`${usage}\n`);
    return endings.holds;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    throw toUsageFailure(`"${toPrintablePath(name)}" is no command.`, usage);
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    context.stdout.write(`${command.usage.trimEnd()}\n`);
    return endings.holds;
  }
  return await runCommand(command, rest, context);
}

async function runCommand(
  command: Command,
  words: readonly string[],
  context: CliContext,
): Promise<number> {
  try {
    return await command.run(words, context);
  } catch (error) {
    if (error instanceof UsageError) throw toUsageFailure(error.message, command.usage);
    if (error instanceof CalibrationInputError) {
      throw new CliError(`${error.message}. Nothing was written.`, { cause: error });
    }
    throw error;
  }
}

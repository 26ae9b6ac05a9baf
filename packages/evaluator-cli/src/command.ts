import { CliError, type CliContext, toUsageText } from "evaluator-kit";

/** One command of the program. */
export interface Command {
  /** How it is typed, and each option. */
  readonly usage: string;
  /** Whole lines as they are typed; none where the usage shows its own. */
  readonly examples: readonly string[];
  /** Takes the words after its name, returns what the program ends with. */
  readonly run: (words: readonly string[], context: CliContext) => Promise<number>;
}

/** Returns words that mean nothing as an error that says how to ask for the usage. */
export function toUsageFailure(message: string, command: string): CliError {
  return new CliError(toUsageText(message, command));
}

import { CliError, type CliContext, toUsageText } from "evaluator-kit";

/** What a command ends with. */
export const endings = {
  /** What was asked for holds. */
  holds: 0,
  /** It does not, or the input cannot be read. */
  broken: 1,
  /** The words mean nothing. */
  usage: 2,
  /** The labels are too few to say. */
  notEnoughLabels: 3,
} as const;

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
  return new CliError(toUsageText(message, command), { exitCode: endings.usage });
}

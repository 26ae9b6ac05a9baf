import {
  Argument,
  Command,
  CommanderError,
  InvalidArgumentError,
  Option,
} from "@commander-js/extra-typings";
import type { CliContext } from "./context.ts";
import { exitCodes, UsageError } from "./errors.ts";
import { toPrintable } from "./printable.ts";

// Programs declare their commands with these, so that only the kit depends on commander.
export { Argument, Command, InvalidArgumentError, Option };

/**
 * Creates the root command of a program. It prints to the context, and a wrong word throws a
 * `UsageError`. A command that ends with another exit code than 0 sets `context.exitCode`.
 *
 * @example
 * const program = createCommand("copy", { context, version: "1.0.0" });
 * program
 *   .argument("<file>", "what to copy")
 *   .addOption(new Option("--times <n>", "how often").argParser(wholeNumber({ min: 1 })).default(1))
 *   .action(async (file, { times }) => copy(file, times));
 * return runCommand(program, words);
 */
export function createCommand(
  name: string,
  { context, version }: { readonly context: CliContext; readonly version: string },
): Command {
  const { stdout } = context;
  return new Command(name)
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: () => {}, // the error is thrown, and printed once
      getOutHelpWidth: () => Math.min(stdout.columns ?? 100, 100),
      getOutHasColors: () => false,
    })
    .hook("preAction", (_, command) => checkOptionValues(command));
}

/**
 * Parses the words after a program's name and runs the command that they name.
 *
 * @throws UsageError that names the word or option and what would be right.
 */
export async function runCommand(
  program: Command,
  words: readonly string[],
  context: CliContext,
): Promise<number> {
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done; // --help, --version
    throw new UsageError(toMessage(error.message), { cause: error });
  }
  return context.exitCode;
}

function toMessage(message: string): string {
  const text = toPrintable(message.replace(/^error: /, "").replace("\n(Did", " (Did"));
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)?]$/.test(text) ? "" : "."}`;
}

/** Without this, `--journal --offline` would open a journal with the name "--offline". */
function checkOptionValues(command: Pick<Command, "options" | "getOptionValue">): void {
  const flags = new Set(command.options.map(({ long }) => long));
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === "string" && flags.has(value)) {
      throw new UsageError(`${option.long} needs a value: ${option.flags}.`);
    }
  }
}

/** Parses an option's value as a whole number between two bounds. */
export function wholeNumber({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  return (text: string): number => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use a whole number ${range}, such as ${min + 1}.`);
  };
}

/** Parses an option's value as a number, with or without decimals, between two bounds. */
export function decimal({ min = 0, max = Number.MAX_VALUE, what = "a number" } = {}) {
  const range = max === Number.MAX_VALUE ? `from ${min} up` : `from ${min} to ${max}`;
  return (text: string): number => {
    const number = /^\d{1,12}(?:\.\d{1,20})?$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use ${what} ${range}, such as ${Math.max(min, 0.5)}.`);
  };
}

/** Parses an option's value as some of a few words with commas between, in the order of `words`. */
export function wordList<TWord extends string>(words: readonly TWord[]) {
  return (text: string): readonly TWord[] => {
    const typed = new Set(text.split(",").map((word) => word.trim()));
    const chosen = words.filter((word) => typed.has(word));
    if (chosen.length === typed.size) return chosen;
    throw new InvalidArgumentError(`Use some of ${words.join(", ")}, with commas between.`);
  };
}

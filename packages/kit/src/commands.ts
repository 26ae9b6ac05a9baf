import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, Command, Option } from "@commander-js/extra-typings";
// Named here, a published package lists it; the typings only have it as a peer.
import { CommanderError, InvalidArgumentError } from "commander";
import type { CliContext } from "./context.ts";
import { exitCodes, UsageError } from "./errors.ts";
import { toPrintable } from "./printable.ts";

// Programs declare their commands with these, so that only the kit depends on commander.
export { Argument, Command, InvalidArgumentError, Option };

/**
 * Creates the root command of a program. It prints to the context, and a wrong word throws a
 * `UsageError`. A command that ends with another exit code than 0 sets `context.exitCode`.
 */
export function createCommand(
  programName: string,
  { context, version }: { readonly context: CliContext; readonly version: string },
): Command {
  const { stdout } = context;
  return new Command(programName)
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--env-file <file>", "file of variables (.env); those that are set win")
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ commandDescription: describeCommand })
    .configureOutput({
      writeOut: (helpText) => stdout.write(helpText),
      writeErr: () => {}, // the error is thrown, and printed once
      getOutHelpWidth: () => Math.min(stdout.columns || 100, 100),
      getOutHasColors: () => false,
    })
    .hook("preAction", (_, command) => checkOptionValues(command));
}

/**
 * Runs the command that the words name; `help X` is `X --help`.
 * @throws UsageError with the wrong word and its correction.
 */
export async function runCommand(
  program: Command,
  commandWords: readonly string[],
  context: CliContext,
): Promise<number> {
  const helpedWords =
    commandWords[0] === "help" ? [...commandWords.slice(1), "--help"] : commandWords;
  const commandPath = typedCommands(program, helpedWords);
  const command = commandPath.at(-1) ?? program;
  if (program.commands.length > 0) {
    const completionCommand = `${program.name()} complete bash|zsh|fish`;
    program.addHelpText("after", `\nCompletion in a shell: ${completionCommand}`);
  }
  try {
    const takesCommand = command.commands.length > 0 && command.registeredArguments.length === 0;
    if (helpedWords.length < commandPath.length && takesCommand) {
      const commandNames = command.commands.map((subcommand) => subcommand.name());
      throw new UsageError(`Name a command: ${commandNames.join(", ")}.`);
    }
    if (commandWords[0] === "complete") await addCompletion(program);
    // For an unknown command, commander prints the help of the program.
    const isUnknown =
      takesCommand &&
      commandWords[0] !== "complete" &&
      /^[^-]/.test(helpedWords[commandPath.length - 1] ?? "");
    const parsedWords = helpedWords.filter(
      (typedWord) => !isUnknown || !/^(?:-h|--help)$/.test(typedWord),
    );
    await program.parseAsync(parsedWords, { from: "user" });
  } catch (thrownValue) {
    const commandError = unknownOption(command, helpedWords, thrownValue) ?? thrownValue;
    const isCommanderError = commandError instanceof CommanderError;
    if (isCommanderError && commandError.exitCode === 0) return exitCodes.done; // --help, --version
    if (!isCommanderError && !(commandError instanceof UsageError)) throw commandError;
    const errorMessage = isCommanderError ? toMessage(commandError.message) : commandError.message;
    const fullCommand = commandPath.map((pathCommand) => pathCommand.name()).join(" ");
    throw new UsageError(`${errorMessage}\nFor its options: ${fullCommand} --help`, {
      cause: commandError,
    });
  }
  return context.exitCode;
}

/** Returns the beginning of a command's help: its summary as a sentence, then its description. */
function describeCommand(command: { summary(): string; description(): string }): string {
  const summaryText = command.summary().replace(/\.$/, "");
  const summarySentence =
    summaryText && `${summaryText.charAt(0).toUpperCase()}${summaryText.slice(1)}. `;
  return `${summarySentence}${command.description()}`.trimEnd();
}

/** Adds the command `complete`, which prints the script of a shell and its suggestions. */
async function addCompletion(program: Command): Promise<void> {
  const { default: addTabCompletion } = await import("@bomb.sh/tab/commander");
  // A suggestion takes one line.
  for (const command of program.commands) command.description(command.summary());
  addTabCompletion(program);
}

/** Returns words that begin with a command: the usual one, if it is not named. */
export function withUsualCommand(
  program: Command,
  commandWords: readonly string[],
  { name, cwd }: { readonly name: string; readonly cwd: string },
) {
  const [firstWord = ""] = commandWords;
  if (/^(?:-h|--help|--version|help|complete)$/.test(firstWord)) return commandWords;
  const firstCommand = program.commands.find((command) => command.name() === firstWord);
  const usualCommand = program.commands.find((command) => command.name() === name);
  // A word that is no file, or that it cannot take, is a misspelt command.
  const isFile = /\W/.test(firstWord) || existsSync(resolve(cwd, firstWord));
  const isItsWord =
    /^(?:-|$)/.test(firstWord) || (isFile && usualCommand?.registeredArguments.length !== 0);
  return firstCommand === undefined && isItsWord ? [name, ...commandWords] : commandWords;
}

/** Returns the program, and the commands and subcommands that the words begin with. */
function typedCommands(program: Command, commandWords: readonly string[]): Command[] {
  const [firstWord, ...otherWords] = commandWords;
  const nextCommand = program.commands.find((command) => command.name() === firstWord) as
    | Command
    | undefined;
  return [program, ...(nextCommand === undefined ? [] : typedCommands(nextCommand, otherWords))];
}

/** Returns the error of a misspelt option, which commander reports only after a missing one. */
function unknownOption(
  command: Command,
  commandWords: readonly string[],
  thrownValue: unknown,
): unknown {
  const errorCode = thrownValue instanceof CommanderError ? thrownValue.code : "";
  if (errorCode !== "commander.missingMandatoryOptionValue") return null;
  const unknownWord = command
    .parseOptions([...commandWords])
    .unknown.find((parsedWord) => parsedWord.startsWith("-"));
  if (unknownWord === undefined) return null;
  try {
    return (command as unknown as { unknownOption(optionWord: string): never }).unknownOption(
      unknownWord,
    );
  } catch (error) {
    return error;
  }
}

function toMessage(message: string): string {
  const printableMessage = toPrintable(message.replace(/^error: /, "").replace("\n(Did", " (Did"));
  return `${printableMessage.charAt(0).toUpperCase()}${printableMessage.slice(1)}${/[.)?]$/.test(printableMessage) ? "" : "."}`;
}

/** Without this, `--journal --offline` would open a journal with the name "--offline". */
function checkOptionValues(command: Pick<Command, "options" | "getOptionValue">): void {
  const longFlags = new Set(command.options.map(({ long: longFlag }) => longFlag));
  for (const option of command.options) {
    const optionValue: unknown = command.getOptionValue(option.attributeName());
    if (typeof optionValue === "string" && longFlags.has(optionValue)) {
      throw new UsageError(`${option.long} needs a value: ${option.flags}.`);
    }
  }
}

/** Collects the values of an option that may be given again. */
export function collect(
  optionValue: string,
  previousValues: readonly string[] = [],
): readonly string[] {
  return [...previousValues, optionValue];
}

/** Parses an option's value as a whole number between two bounds. */
export function wholeNumber({
  minimum = 0,
  maximum = Number.MAX_SAFE_INTEGER,
  example = minimum + 1,
}: { readonly minimum?: number; readonly maximum?: number; readonly example?: number } = {}) {
  const rangeText =
    maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum} up` : `from ${minimum} to ${maximum}`;
  return (optionText: string): number => {
    const parsedNumber = /^\d{1,16}$/.test(optionText) ? Number(optionText) : Number.NaN;
    if (parsedNumber >= minimum && parsedNumber <= maximum) return parsedNumber;
    throw new InvalidArgumentError(`Use a whole number ${rangeText}, such as ${example}.`);
  };
}

/** Parses an option's value as a port; 0 is any free one. */
export const portNumber = wholeNumber({ maximum: 65_535, example: 8080 });

/** Parses an option's value as a number, with or without decimals, between two bounds. */
export function decimal({ min = 0, max = Number.MAX_VALUE, what = "a number" } = {}) {
  const rangeText = max === Number.MAX_VALUE ? `from ${min} up` : `from ${min} to ${max}`;
  return (optionText: string): number => {
    const parsedNumber = /^\d{1,12}(?:\.\d{1,20})?$/.test(optionText)
      ? Number(optionText)
      : Number.NaN;
    if (parsedNumber >= min && parsedNumber <= max) return parsedNumber;
    throw new InvalidArgumentError(`Use ${what} ${rangeText}, such as ${Math.max(min, 0.5)}.`);
  };
}

/** Parses an option's value as a share: `5%` or `0.05`. */
export function parseShare(optionText: string): number {
  const shareMatch = /^(\d{1,3}(?:\.\d{1,9})?)\s?(%?)$/.exec(optionText.trim());
  // As a decimal fraction: 99.9 / 100 is above 0.999.
  const shareValue = Number(
    shareMatch === null ? Number.NaN : `${shareMatch[1]}${shareMatch[2] === "%" ? "e-2" : ""}`,
  );
  if (shareValue > 0 && shareValue < 1) return shareValue;
  throw new InvalidArgumentError("Use a share above 0 and below 1, such as 5%.");
}

/** An action that depends on an answer, as in `--action refund=yes`. */
export interface QuestionAction {
  readonly question: string;
  readonly action: "yes" | "no" | "top";
}

/** Parses an option's value as an action; the option may be given again. */
export function questionActions(
  optionText: string,
  previousActions: readonly QuestionAction[] = [],
): readonly QuestionAction[] {
  const [, question = "", action] = /^(.+)=(yes|no|top)$/s.exec(optionText) ?? [];
  if (action === "yes" || action === "no" || action === "top") {
    return [...previousActions, { question, action }];
  }
  throw new InvalidArgumentError(
    "Use a question and yes, no or top (its likeliest option), such as refund=yes.",
  );
}

/** Parses an option's value as some of a few words with commas between, in the order of `knownWords`. */
export function wordList<TWord extends string>(knownWords: readonly TWord[]) {
  return (optionText: string): readonly TWord[] => {
    const typedNames = new Set(optionText.split(",").map((typedWord) => typedWord.trim()));
    const chosenWords = knownWords.filter((knownWord) => typedNames.has(knownWord));
    if (chosenWords.length === typedNames.size) return chosenWords;
    throw new InvalidArgumentError(`Use some of ${knownWords.join(", ")}, with commas between.`);
  };
}

/** Returns examples for the end of a command's help, as `addHelpText` takes them. */
export function examples(...exampleLines: readonly string[]): ["after", string] {
  return [
    "after",
    `\nExamples\n${exampleLines.map((exampleLine) => `  ${exampleLine}`).join("\n")}`,
  ];
}

/** Returns the version of a module's package, from the nearest `package.json` with a version. */
export function packageVersion(moduleUrl: string): string {
  const packageUrl = new URL("package.json", moduleUrl);
  const packageJson = existsSync(packageUrl) ? readFileSync(packageUrl, "utf8") : "{}";
  const { version } = JSON.parse(packageJson) as { version?: string };
  const parentUrl = new URL("..", moduleUrl).href;
  return version ?? (parentUrl === moduleUrl ? "unknown" : packageVersion(parentUrl));
}

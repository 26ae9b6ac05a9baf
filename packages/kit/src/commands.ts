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
  name: string,
  { context, version }: { readonly context: CliContext; readonly version: string },
): Command {
  const { stdout } = context;
  return new Command(name)
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--env-file <file>", "the file of variables (.env); those that are set win")
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ commandDescription: describeCommand })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
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
  words: readonly string[],
  context: CliContext,
): Promise<number> {
  const typedWords = words[0] === "help" ? [...words.slice(1), "--help"] : words;
  const path = typedCommands(program, typedWords);
  const command = path.at(-1) ?? program;
  if (program.commands.length > 0) {
    const complete = `${program.name()} complete bash|zsh|fish`;
    program.addHelpText("after", `\nCompletion in a shell: ${complete}`);
  }
  try {
    const takesCommand = command.commands.length > 0 && command.registeredArguments.length === 0;
    if (typedWords.length < path.length && takesCommand) {
      const names = command.commands.map((one) => one.name());
      throw new UsageError(`No command was given; there are ${names.join(", ")}.`);
    }
    if (words[0] === "complete") await addCompletion(program);
    // For an unknown command, commander prints the help of the program.
    const isUnknown =
      takesCommand && words[0] !== "complete" && /^[^-]/.test(typedWords[path.length - 1] ?? "");
    const parsedWords = typedWords.filter((word) => !isUnknown || !/^(?:-h|--help)$/.test(word));
    await program.parseAsync(parsedWords, { from: "user" });
  } catch (thrownValue) {
    const error = unknownOption(command, typedWords, thrownValue) ?? thrownValue;
    const isOfCommander = error instanceof CommanderError;
    if (isOfCommander && error.exitCode === 0) return exitCodes.done; // --help, --version
    if (!isOfCommander && !(error instanceof UsageError)) throw error;
    const message = isOfCommander ? toMessage(error.message) : error.message;
    const names = path.map((one) => one.name()).join(" ");
    throw new UsageError(`${message}\nFor its options: ${names} --help`, { cause: error });
  }
  return context.exitCode;
}

/** Returns the beginning of a command's help: its summary as a sentence, then its description. */
function describeCommand(command: { summary(): string; description(): string }): string {
  const summary = command.summary().replace(/\.$/, "");
  const sentence = summary && `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. `;
  return `${sentence}${command.description()}`.trimEnd();
}

/** Adds the command `complete`, which prints the script of a shell and its suggestions. */
async function addCompletion(program: Command): Promise<void> {
  const { default: tab } = await import("@bomb.sh/tab/commander");
  // A suggestion takes one line.
  for (const command of program.commands) command.description(command.summary());
  tab(program);
}

/** Returns words that begin with a command: the usual one, if it is not named. */
export function withUsualCommand(
  program: Command,
  words: readonly string[],
  { name, cwd }: { readonly name: string; readonly cwd: string },
) {
  const [first = ""] = words;
  if (/^(?:-h|--help|--version|help|complete)$/.test(first)) return words;
  const firstCommand = program.commands.find((command) => command.name() === first);
  const usual = program.commands.find((command) => command.name() === name);
  // A word that is no file, or that it cannot take, is a misspelt command.
  const isFile = /\W/.test(first) || existsSync(resolve(cwd, first));
  const isItsWord = /^(?:-|$)/.test(first) || (isFile && usual?.registeredArguments.length !== 0);
  return firstCommand === undefined && isItsWord ? [name, ...words] : words;
}

/** Returns the program, and the commands and subcommands that the words begin with. */
function typedCommands(program: Command, words: readonly string[]): Command[] {
  const [first, ...others] = words;
  const next = program.commands.find((command) => command.name() === first) as Command | undefined;
  return [program, ...(next === undefined ? [] : typedCommands(next, others))];
}

/** Returns the error of a misspelt option, which commander reports only after a missing one. */
function unknownOption(command: Command, words: readonly string[], thrownValue: unknown): unknown {
  const code = thrownValue instanceof CommanderError ? thrownValue.code : "";
  if (code !== "commander.missingMandatoryOptionValue") return null;
  const word = command.parseOptions([...words]).unknown.find((one) => one.startsWith("-"));
  if (word === undefined) return null;
  try {
    return (command as unknown as { unknownOption(flag: string): never }).unknownOption(word);
  } catch (error) {
    return error;
  }
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

/** Collects the values of an option that may be given again. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Parses an option's value as a whole number between two bounds. */
export function wholeNumber({
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
  example = min + 1,
}: { readonly min?: number; readonly max?: number; readonly example?: number } = {}) {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  return (text: string): number => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use a whole number ${range}, such as ${example}.`);
  };
}

/** Parses an option's value as a port; 0 is any free one. */
export const portNumber = wholeNumber({ max: 65_535, example: 8080 });

/** Parses an option's value as a number, with or without decimals, between two bounds. */
export function decimal({ min = 0, max = Number.MAX_VALUE, what = "a number" } = {}) {
  const range = max === Number.MAX_VALUE ? `from ${min} up` : `from ${min} to ${max}`;
  return (text: string): number => {
    const number = /^\d{1,12}(?:\.\d{1,20})?$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use ${what} ${range}, such as ${Math.max(min, 0.5)}.`);
  };
}

/** Parses an option's value as a share: `5%` or `0.05`. */
export function share(text: string): number {
  const match = /^(\d{1,3}(?:\.\d{1,9})?)\s?(%?)$/.exec(text.trim());
  // As a decimal fraction: 99.9 / 100 is above 0.999.
  const value = Number(match === null ? Number.NaN : `${match[1]}${match[2] === "%" ? "e-2" : ""}`);
  if (value > 0 && value < 1) return value;
  throw new InvalidArgumentError("Use a share above 0 and below 1, such as 5%.");
}

/** An action that depends on an answer, as in `--action refund=yes`. */
export interface QuestionAction {
  readonly question: string;
  readonly action: "yes" | "no" | "top";
}

/** Parses an option's value as an action; the option may be given again. */
export function questionActions(
  text: string,
  previous: readonly QuestionAction[] = [],
): readonly QuestionAction[] {
  const [, question = "", action] = /^(.+)=(yes|no|top)$/s.exec(text) ?? [];
  if (action === "yes" || action === "no" || action === "top") {
    return [...previous, { question, action }];
  }
  throw new InvalidArgumentError(
    "Use a question and yes, no or top (its most probable option), such as refund=yes.",
  );
}

/** Parses an option's value as some of a few words with commas between, in the order of `words`. */
export function wordList<TWord extends string>(words: readonly TWord[]) {
  return (text: string): readonly TWord[] => {
    const typedNames = new Set(text.split(",").map((word) => word.trim()));
    const chosenWords = words.filter((word) => typedNames.has(word));
    if (chosenWords.length === typedNames.size) return chosenWords;
    throw new InvalidArgumentError(`Use some of ${words.join(", ")}, with commas between.`);
  };
}

/** Returns examples for the end of a command's help, as `addHelpText` takes them. */
export function examples(...lines: readonly string[]): ["after", string] {
  return ["after", `\nExamples\n${lines.map((line) => `  ${line}`).join("\n")}`];
}

/** Returns the version of a module's package, from the nearest `package.json` with a version. */
export function packageVersion(moduleUrl: string): string {
  const file = new URL("package.json", moduleUrl);
  const json = existsSync(file) ? readFileSync(file, "utf8") : "{}";
  const { version } = JSON.parse(json) as { version?: string };
  const above = new URL("..", moduleUrl).href;
  return version ?? (above === moduleUrl ? "unknown" : packageVersion(above));
}

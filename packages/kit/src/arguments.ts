import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from "node:util";
import { closest, distance } from "fastest-levenshtein";
import { UsageError } from "./errors.ts";
import { toPrintablePath } from "./printable.ts";

/**
 * Parses words as `parseArgs` of `node:util` does.
 *
 * @throws UsageError that names the option and the correct form.
 */
export function parseWords<const TOptions extends ParseArgsOptionsConfig>(
  words: readonly string[],
  options: TOptions,
) {
  const args = [...words];
  checkOptions({ args, options });
  return parseArgs({ args, options, allowPositionals: true });
}

/**
 * Returns the words that are not options.
 *
 * @param names - Name of each word, in order, such as `["FILE"]`.
 * @param optional - How many of the last may be missing. @default 0
 * @throws UsageError that names missing or superfluous words.
 */
export function readPositionals(
  positionals: readonly string[],
  names: readonly string[],
  { optional = 0 } = {},
): readonly string[] {
  const missing = names[positionals.length];
  if (positionals.length < names.length - optional) throw new UsageError(`${missing} is missing.`);
  const extra = positionals[names.length];
  if (extra === undefined) return positionals;
  const wanted = names.length === 0 ? "no word beside the options" : names.join(" and ");
  throw new UsageError(`"${toPrintablePath(extra)}" is too much; give ${wanted}.`);
}

/** Returns a whole number between two bounds. @throws UsageError that names the option and both. */
export function readWholeNumber(
  option: string,
  text: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER } = {},
): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  throw new UsageError(
    `${option} takes a whole number ${range}, such as ${example(option, min + 1)}.`,
  );
}

/** Returns a number with or without decimals. @throws UsageError that names the option. */
export function readDecimal(
  option: string,
  text: string,
  { min = 0, max = Number.MAX_VALUE, what = "a number" } = {},
): number {
  const number = /^\d{1,12}(?:\.\d{1,20})?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_VALUE ? `from ${min} up` : `from ${min} to ${max}`;
  throw new UsageError(
    `${option} takes ${what} ${range}, such as ${example(option, Math.max(min, 0.5))}.`,
  );
}

/** Returns an option or an environment variable with its value, for messages. */
function example(option: string, value: number): string {
  return `${option}${option.startsWith("-") ? " " : "="}${value}`;
}

/** Returns one of the allowed words. @throws UsageError that names the option and all words. */
export function readWord<TWord extends string>(
  option: string,
  text: string,
  words: readonly TWord[],
): TWord {
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  const typed = toPrintablePath(text);
  throw new UsageError(`${option} takes one of ${words.join(", ")}, not "${typed}".`);
}

/**
 * Returns some of the allowed words, separated by commas, in the order of `words`.
 *
 * @throws UsageError that names the option and all words.
 */
export function readWordList<TWord extends string>(
  option: string,
  text: string,
  words: readonly TWord[],
): readonly TWord[] {
  const typed = new Set(text.split(",").map((word) => readWord(option, word.trim(), words)));
  return words.filter((word) => typed.has(word));
}

/** Throws if an option is unknown, or has or lacks a value wrongly. */
function checkOptions(config: ParseArgsConfig & { options: ParseArgsOptionsConfig }): void {
  const { options } = config;
  const lenient = { ...config, strict: false, allowPositionals: true, tokens: true } as const;
  for (const token of parseArgs(lenient).tokens) {
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    const { rawName, value, inlineValue } = token;
    if (option === undefined) throw new UsageError(unknownOption(rawName, options));
    if (option.type === "boolean" && value !== undefined) {
      throw new UsageError(`${rawName} takes no value.`);
    }
    if (option.type === "string" && (value === undefined || (!inlineValue && isOption(value)))) {
      throw new UsageError(`${rawName} needs a value: ${rawName}=VALUE.`);
    }
  }
}

function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

function unknownOption(typed: string, options: ParseArgsOptionsConfig): string {
  const known = Object.keys(options).map((name) => `--${name}`);
  const problem = `Unknown option '${toPrintablePath(typed)}'`;
  if (known.length === 0) return `${problem}; no options are taken here.`;
  const near = typed.length <= 50 ? closest(typed, known) : "";
  const isLikely = near !== "" && sharesMost(typed, near);
  return `${problem}; ${isLikely ? `did you mean ${near}?` : `there are ${known.join(", ")}.`}`;
}

function sharesMost(typed: string, near: string): boolean {
  return distance(typed, near) <= Math.max(1, Math.floor((near.length - 2) / 3));
}

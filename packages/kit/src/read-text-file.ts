import { readFile } from "node:fs/promises";
import { CliError } from "./errors.ts";
import { printable } from "./printable.ts";
import { describeSystemError, toFileError } from "./system-error.ts";

/**
 * Reads a file of UTF-8 text.
 *
 * @param advice - What to do when it cannot be read.
 * @throws CliError that names the path, why it cannot be read, and what to do next.
 */
export async function readTextFile(path: string, advice: string): Promise<string> {
  return await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, advice);
  });
}

/** How messages name a file that is parsed, and what to do about it. */
export interface ParsedFileOptions<T> {
  /** Such as `--calibration FILE`. @default its path */
  readonly name?: string;
  /** Throws an Error whose message goes on after the name, such as "is not JSON". */
  readonly parse: (text: string) => T;
  readonly advice: string;
}

/**
 * Reads a file of UTF-8 text and parses it.
 *
 * @throws CliError that names the file, what is wrong with it, and what to do next.
 */
export async function readParsedFile<T>(
  path: string,
  { name = path, parse, advice }: ParsedFileOptions<T>,
): Promise<T> {
  const toError = (problem: string, cause: unknown) =>
    new CliError(printable`${name} ${problem}. ` + advice, { cause });
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const reason = describeSystemError(error);
    throw reason === null ? error : toError(`cannot be read: ${reason}`, error);
  });
  try {
    return parse(text);
  } catch (error) {
    throw toError(error instanceof Error ? error.message : "is wrong", error);
  }
}

/** Returns what a text says in JSON, which may begin with a byte order mark; null where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
}

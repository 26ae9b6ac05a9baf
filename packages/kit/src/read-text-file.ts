import { readFile } from "node:fs/promises";
import { CliError, describeSystemError, toFileError } from "./errors.ts";
import { printable } from "./printable.ts";

/** Reads a file of UTF-8 text. @throws CliError with the path, the reason, the next step and the note. */
export async function readTextFile(path: string, note = ""): Promise<string> {
  return await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, note);
  });
}

/** Names a parsed file in messages. */
interface ParsedFileOptions<T> {
  /** Such as `--calibration FILE`. @default its path */
  readonly name?: string;
  /** Throws an Error whose message continues after the name, such as "is not JSON". */
  readonly parse: (text: string) => T;
  readonly advice: string;
}

/** Reads and parses a file of UTF-8 text. @throws CliError with the file, the problem and the advice. */
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

/** Returns whether a value is a JSON object: not null, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON after an optional byte order mark; null if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
}

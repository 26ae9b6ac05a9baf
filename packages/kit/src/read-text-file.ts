import { readFile } from "node:fs/promises";
import { CliError, describeSystemError, toFileError } from "./errors.ts";
import { printable } from "./printable.ts";

/** Reads a file of UTF-8 text. @throws CliError with the path, the reason, the next step and the note. */
export async function readTextFile(filePath: string, note = ""): Promise<string> {
  return await readFile(filePath, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${filePath}`, note);
  });
}

/** Names a parsed file in messages. */
interface ParsedFileOptions<T> {
  /** Such as `--calibration FILE`. @default its path */
  readonly fileName?: string;
  /** Throws an Error whose message continues after the name, such as "is not JSON". */
  readonly parse: (text: string) => T;
  readonly advice: string;
}

/** Reads and parses a file of UTF-8 text. @throws CliError with the file, the problem and the advice. */
export async function readParsedFile<T>(
  filePath: string,
  { fileName = filePath, parse, advice }: ParsedFileOptions<T>,
): Promise<T> {
  const toError = (fileProblem: string, cause: unknown) =>
    new CliError(printable`${fileName} ${fileProblem}. ` + advice, { cause });
  const fileText = await readFile(filePath, "utf8").catch((error: unknown) => {
    const systemReason = describeSystemError(error);
    throw systemReason === null ? error : toError(`cannot be read: ${systemReason}`, error);
  });
  try {
    return parse(fileText);
  } catch (error) {
    throw toError(error instanceof Error ? error.message : "is wrong", error);
  }
}

/** Returns whether a value is a JSON object: not null, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON after an optional byte order mark; null if it is invalid. */
export function parseJson(jsonText: string): unknown {
  try {
    return JSON.parse(jsonText.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
}

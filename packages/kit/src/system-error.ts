import { getSystemErrorMessage } from "node:util";
import { CliError } from "./errors.ts";
import { toPrintablePath } from "./printable.ts";

/**
 * Returns what the operating system said, such as "no space left on device"; null for an error that
 * is not its.
 */
export function describeSystemError(error: unknown): string | null {
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return typeof error.errno === "number" ? getSystemErrorMessage(error.errno) : null;
}

/** Returns the code of an error of the operating system, such as `ENOENT`; null where it has none. */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/**
 * Returns whether a write failed because nobody reads any more: Windows says EOF where a reader left
 * while it was going on.
 */
export function isBrokenPipe(error: unknown): boolean {
  return ["EPIPE", "EOF"].includes(systemErrorCode(error) ?? "");
}

/**
 * Returns an error that says what could not be done, why, and what to do next; an error that is not
 * the operating system's as it is.
 *
 * @param action - Such as "write /tmp/inbox.json".
 */
export function toFileError(error: unknown, action: string, advice: string): unknown {
  const reason = describeSystemError(error);
  if (reason === null) return error;
  return new CliError(`Cannot ${toPrintablePath(action)}: ${reason}. ${advice}`, { cause: error });
}

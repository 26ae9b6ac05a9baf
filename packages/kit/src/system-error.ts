import { getSystemErrorMessage } from "node:util";
import { CliError } from "./errors.ts";
import { toPrintablePath } from "./printable.ts";

/**
 * Returns the reason of a system error, such as "no space left on device"; null for other errors.
 */
export function describeSystemError(error: unknown): string | null {
  if (!(error instanceof Error) || !("errno" in error)) return null;
  return typeof error.errno === "number" ? getSystemErrorMessage(error.errno) : null;
}

/** Returns the code of a system error, such as `ENOENT`; null for other errors. */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Returns whether a write failed because the reader ended; Windows reports EOF. */
export function isBrokenPipe(error: unknown): boolean {
  return ["EPIPE", "EOF"].includes(systemErrorCode(error) ?? "");
}

/**
 * Returns a system error as a message with the action, the reason and the next step; other errors
 * unchanged.
 *
 * @param action - Such as "write /tmp/inbox.json".
 */
export function toFileError(error: unknown, action: string, advice: string): unknown {
  const reason = describeSystemError(error);
  if (reason === null) return error;
  return new CliError(`Cannot ${toPrintablePath(action)}: ${reason}. ${advice}`, { cause: error });
}

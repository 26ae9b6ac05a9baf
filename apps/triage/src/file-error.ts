import { getSystemErrorMessage } from "node:util";
import { TriageError } from "./errors.ts";
import { plainMessage } from "./text/plain-message.ts";

/** Returns what could not be done to which path and why; an error that is no file error passes as it is. */
export function toFileError(error: unknown, action: string, whatToDo: string): unknown {
  if (!(error instanceof Error) || !("errno" in error) || typeof error.errno !== "number") {
    return error;
  }
  const reason = getSystemErrorMessage(error.errno);
  return new TriageError(plainMessage`Cannot ${action}: ${reason}. ${whatToDo}`, { cause: error });
}

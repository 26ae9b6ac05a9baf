import { CalibrationInputError } from "evaluator-calibration/reports";
import { CliError, printable } from "evaluator-kit";
import { TableError } from "./read-table.ts";

/** Returns the error of a line of answers or labels with the name of its file; other errors unchanged. */
export function toInputError(error: unknown, inputFile: string): unknown {
  if (error instanceof CalibrationInputError)
    return new CliError(`${error.message}.`, { cause: error });
  if (!(error instanceof TableError)) return error;
  const message = printable`${inputFile} line ${String(error.line)}: ${error.problem}.`;
  return new CliError(message, { cause: error });
}

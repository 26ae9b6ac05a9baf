import { basename, resolve } from "node:path";
import { CliError, printable } from "evaluator-kit";
import type { RecordSource } from "../input/record-source.ts";
import type { OutputFormat } from "../shared-options.ts";

// The extensions that names beside an input replace; an input may have another one.
const inputEnd = /\.(?:json|ndjson|jsonl|csv|tsv)$/i;

/** Returns the path of an input as typed; standard input counts as `stdin.json` in the folder. */
export function toInputPath(file: string, cwd: string): string {
  return resolve(cwd, file === "-" ? "stdin.json" : file);
}

/** Returns the name of the input that a command names, which its runs have; undefined without one. */
export function toInputName(file: string | undefined): string | undefined {
  return file === undefined ? undefined : basename(toInputPath(file, "."));
}

/** Returns the path of a file beside an input: `end` in place of its ending. */
export function besideInput(inputPath: string, end: string): string {
  return inputPath.replace(inputEnd, "") + end;
}

/**
 * Returns the path of the results of an input: `.triage.json` in place of `.json` if the source's
 * suffix is "triage" (contract section 4.7).
 *
 * @throws CliError if the input has the name of results.
 */
export function toOutputPath(
  inputPath: string,
  { suffix, word }: Pick<RecordSource, "suffix" | "word">,
  format: OutputFormat = "json",
): string {
  const parts = basename(inputPath).toLowerCase().split(".");
  if (parts.length > 2 && parts.at(-2) === suffix && /^\w+$/.test(parts.at(-1) ?? "")) {
    throw new CliError(printable`${inputPath} has results; give the file of ${word}s.`);
  }
  return besideInput(inputPath, `.${suffix}.${format}`);
}

/** Returns the path of the journal of an input: `.triage.sqlite` in place of `.json`. */
export function toJournalPath(inputPath: string, { suffix }: Pick<RecordSource, "suffix">): string {
  const end = `.${suffix}.sqlite`;
  return inputPath.endsWith(end) ? inputPath : besideInput(inputPath, end);
}

import { resolve } from "node:path";
import { CliError, printable } from "evaluator-kit";
import type { OutputFormat } from "../options/shared-options.ts";

/** How the names of inputs end that stand in place of `.json`; an input may have any other name. */
export const inputEnd = /\.(?:json|ndjson|jsonl)$/i;

/** Returns the path of an input as typed; standard input counts as `stdin.json` in the folder. */
export function toInputPath(file: string, cwd: string): string {
  return resolve(cwd, file === "-" ? "stdin.json" : file);
}

/** Returns the path of a file beside an input: `end` in place of `.json`. */
export function besideInput(inputPath: string, end: string): string {
  return inputPath.replace(inputEnd, "") + end;
}

/** Returns the path of the results of an input: `.triage.json` in place of `.json` (contract section 4.7). */
export function toOutputPath(inputPath: string, format: OutputFormat = "json"): string {
  if (/\.triage\.\w+$/i.test(inputPath)) {
    throw new CliError(printable`${inputPath} holds results; give the file of mails they came from.`);
  }
  return besideInput(inputPath, `.triage.${format}`);
}

/** Returns the path of the journal of an input: `.triage.sqlite` in place of `.json`. */
export function toJournalPath(inputPath: string): string {
  const isJournal = inputPath.endsWith(".triage.sqlite");
  return isJournal ? inputPath : besideInput(inputPath, ".triage.sqlite");
}

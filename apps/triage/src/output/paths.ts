import { CliError, printable } from "evaluator-cli-kit";
import type { OutputFormat } from "./write-records.ts";

/** Returns the path of the results of an input: `.triage.json` in place of `.json` (contract section 4.7). */
export function toOutputPath(inputPath: string, format: OutputFormat = "json"): string {
  if (!inputPath.endsWith(".json")) {
    throw new CliError(printable`${inputPath} does not end in .json; rename it so that it does.`);
  }
  if (inputPath.endsWith(".triage.json")) {
    throw new CliError(
      printable`${inputPath} holds results; give the file of mails they came from.`,
    );
  }
  return inputPath.replace(/\.json$/, `.triage.${format}`);
}

/** Returns the path of the journal of an input: `.triage.sqlite` in place of `.json`. */
export function toJournalPath(inputPath: string): string {
  return inputPath.replace(/\.json$/, ".triage.sqlite");
}

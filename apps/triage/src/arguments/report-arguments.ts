import { UsageError } from "evaluator-cli-kit";
import { parseWords } from "./parse-words.ts";

/** Results to make a page from. */
export interface ReportCommand {
  readonly name: "report";
  /** The input file as typed. */
  readonly file: string;
}

/** Reads the words of a report. */
export function readReportArguments(words: readonly string[]): ReportCommand {
  const { positionals } = parseWords(words, {});
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) {
    throw new UsageError("report takes one FILE, the input that was triaged");
  }
  return { name: "report", file };
}

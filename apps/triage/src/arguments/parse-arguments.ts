import { type ExplainCommand, readExplainArguments } from "./explain-arguments.ts";
import { type ImportCommand, readImportArguments } from "./import-arguments.ts";
import type { LabelCommand } from "../label/label-mails.ts";
import { readLabelArguments } from "./label-arguments.ts";
import { readReportArguments, type ReportCommand } from "./report-arguments.ts";
import { readRunArguments, type TriageRun } from "./run-arguments.ts";

/** What the person asked for. */
export type TriageCommand =
  | { readonly name: "help" }
  | ExplainCommand
  | ImportCommand
  | LabelCommand
  | ReportCommand
  | TriageRun;

/**
 * Reads the words after the command's name.
 *
 * @throws UsageError when they name nothing that can be done.
 */
export function parseArguments(argv: readonly string[]): TriageCommand {
  if (argv.some((word) => word === "--help" || word === "-h")) return { name: "help" };
  const [first, ...rest] = argv;
  if (first === "import") return readImportArguments(rest);
  if (first === "label") return readLabelArguments(rest);
  if (first === "report") return readReportArguments(rest);
  if (first === "explain") return readExplainArguments(rest);
  return readRunArguments(argv);
}

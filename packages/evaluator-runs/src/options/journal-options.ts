import type { RecordSource } from "../input/record-source.ts";
import { type Command, Option, wholeNumber } from "evaluator-kit";
import {
  calibrationOption,
  count,
  formatOption,
  journalOption,
  onlyOption,
  optionalFile,
  outputFormats,
  rulesOption,
  runOption,
  sinceOption,
} from "./shared-options.ts";

/** The options of a command about one run, with its argument. */
export type StatusCommand = ReturnType<ReturnType<typeof statusCommand>["opts"]> & FileArgument;

interface FileArgument {
  readonly file?: string | undefined;
}

/** Declares `status`. */
export const statusCommand = (program: Command, source: RecordSource) =>
  program
    .command("status")
    .summary("print how far runs are, how fast, at what cost, and who works")
    .description(
      "Prints how far runs are, how fast, at what cost, and who works on them; in a terminal until they\nare over.",
    )
    .argument("[file]", optionalFile)
    .addOption(journalOption(source))
    .addOption(runOption);

/** The options of `export`, with its argument. */
export type ExportCommand = ReturnType<ReturnType<typeof exportCommand>["opts"]> & FileArgument;

/** Declares `export`. */
export const exportCommand = (program: Command, source: RecordSource) =>
  program
    .command("export")
    .summary("print the results of a run so far, in the order of its input")
    .description(
      "Prints the results of a run so far, in the order of its input. With --rules it prints ids and\nactions. Exit code 2: some records have no answer.",
    )
    .argument("[file]", optionalFile)
    .addOption(journalOption(source))
    .addOption(runOption)
    .addOption(formatOption)
    .addOption(sinceOption)
    .addOption(onlyOption)
    .addOption(calibrationOption)
    .addOption(rulesOption);

/** The options of `query`, with its arguments. */
export type QueryCommand = ReturnType<ReturnType<typeof queryCommand>["opts"]> &
  FileArgument & { readonly text?: string | undefined };

/** Declares `query`. */
export const queryCommand = (program: Command, { word, ...source }: RecordSource) =>
  program
    .command("query")
    .summary(`run read-only SQL over the results: tables ${word}s, answers and runs`)
    .description(
      `Runs read-only SQL over the results of a run, in SQLite or PostgreSQL, and prints its rows.\nTables: ${word}s, answers and runs, with one column for each answer; without a query their columns\nare printed.`,
    )
    .argument("[query]", "one statement, such as select; the file may come first")
    .argument("[file]", optionalFile)
    .addOption(journalOption(source))
    .addOption(runOption)
    .addOption(
      new Option(
        "--format <format>",
        "the format of the rows (default: table on a terminal, else csv)",
      ).choices(["table", ...outputFormats] as const),
    )
    .addOption(
      new Option("--timeout <seconds>", "end the query after so many seconds")
        .argParser(wholeNumber({ min: 1, max: 3600 }))
        .default(60),
    )
    .addOption(
      new Option("--rows <n>", "end the query after so many rows").argParser(count).default(1e6),
    )
    .option("--allow-superuser", "let a role query that can do more than read");

/** The options of `label`, with its argument. */
export type LabelCommand = ReturnType<ReturnType<typeof labelCommand>["opts"]> & {
  readonly file: string;
};

/** Declares `label`. */
export const labelCommand = (program: Command, word: string) =>
  program
    .command("label")
    .summary(`label drawn ${word}s on a page, for "evaluator calibrate"`)
    .description(
      `Serves a page on this machine that shows drawn ${word}s without the answers, and saves each label\nat once (.labels.ndjson), for "evaluator calibrate". Ctrl-C ends it.`,
    )
    .argument("<file>", "the input of the run")
    .option("--question <id>", "the question to begin with (default: the first boolean)")
    .addOption(
      new Option("--count <n>", `how many ${word}s to draw for each question`)
        .argParser(wholeNumber({ min: 1, max: 100_000 }))
        .default(40),
    )
    .addOption(
      new Option("--seed <n>", "seed of the draw")
        .argParser(wholeNumber({ max: 2 ** 31 }))
        .default(1),
    )
    .option("--labels <file>", "where the labels go (default: .labels.ndjson beside the input)")
    .option("--labeler <name>", "who labels", "person")
    .addOption(
      new Option("--port <n>", "the page's port; 0 takes any free one")
        .argParser(wholeNumber({ max: 65_535 }))
        .default(0),
    );

import { type Command, Option } from "evaluator-kit";
import type { RecordSource, StateOptions } from "../input/record-source.ts";
import {
  calibrationOption,
  concurrencyOption,
  count,
  examples,
  formatOption,
  journalOption,
  maxCostOption,
  offlineOption,
  onlyOption,
  optionalFile,
  priceOption,
  rateOption,
  runOption,
  sinceOption,
} from "./shared-options.ts";

/** The options of `run`, with its argument and the options of the source. */
export type RunCommand = ReturnType<ReturnType<typeof runCommand>["opts"]> & {
  readonly file: string;
  readonly state: StateOptions;
};

/** Declares `run`. */
export function runCommand(program: Command, source: RecordSource) {
  const command = program
    .command("run")
    .summary(`ask about every ${source.word} of a file, and write and print the results`)
    .description(
      `Asks about every ${source.word} of a file. Results go beside it, with .${source.suffix}.json in place of .json\n(stdin.${source.suffix}.json for -). Every answer is kept in a journal (.${source.suffix}.sqlite): the same command\nagain asks only for what is missing. With a journal in PostgreSQL the same command on another\nmachine joins the run.\nExit code 2: some records have no answer.`,
    )
    .argument("<file>", source.inputForm)
    .addOption(
      new Option("--limit <n>", "only the first N records")
        .argParser(count)
        .default(Number.POSITIVE_INFINITY, "all"),
    )
    .option("--questions <file>", `a JSON object of id to question (default: those of the source)`)
    .addOption(offlineOption)
    .option("--dry-run", `print what a run would take, and send nothing; needs no key`)
    .addOption(maxCostOption)
    .addOption(priceOption)
    .option("-y, --yes", "do not ask before a run above $1")
    .addOption(concurrencyOption)
    .addOption(rateOption)
    .addOption(journalOption(source))
    .option("--skip-invalid", "leave out invalid records and name them, instead of ending the run")
    .addOption(calibrationOption)
    .addOption(formatOption)
    .option("--raw", "print the answers and providerMetadata of each call before the table")
    .option("--sort <field>", "sort the table by a field of the results (default: importance)")
    .addOption(
      new Option("--top <n>", "print only the first N rows of the table")
        .argParser(count)
        .default(Number.POSITIVE_INFINITY, "all"),
    )
    .addOption(sinceOption)
    .addOption(onlyOption);
  const shown = examples(...source.examples.map((words) => `${source.program} ${words}`));
  return command.addHelpText("after", shown);
}

/** The options of `work`, with its argument. */
export type WorkCommand = ReturnType<ReturnType<typeof workCommand>["opts"]> & {
  readonly file?: string | undefined;
};

/** How a service is asked. */
export type AskingOptions = Pick<WorkCommand, "offline" | "concurrency" | "price" | "rate">;

/** Declares `work`. */
export const workCommand = (program: Command, source: RecordSource) =>
  program
    .command("work")
    .summary("answer what a run lacks, on this machine or another")
    .description(
      "Answers what a run still lacks, with the options it was begun with: on another machine, or here\nonce it ended.",
    )
    .argument("[file]", optionalFile)
    .addOption(runOption)
    .option("--wait", "wait for runs that are still to come, and for a database that is away")
    .addOption(journalOption(source))
    .addOption(offlineOption)
    .addOption(concurrencyOption)
    .addOption(rateOption)
    .addOption(priceOption);

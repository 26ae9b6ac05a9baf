import { Argument, type Command, InvalidArgumentError, Option } from "evaluator-kit";
import {
  calibrationOption,
  examples,
  journalOption,
  onlyOption,
  optionalFile,
  rulesOption,
  runOption,
  sinceOption,
} from "evaluator-runs/commands";
import { mailSource } from "./mail-source.ts";

/** The options of `import`, with its arguments. */
export type ImportCommand = ReturnType<ReturnType<typeof importCommand>["opts"]> & {
  readonly source: string;
  readonly output: string;
};

/** Declares `import`. */
export const importCommand = (program: Command) =>
  program
    .command("import")
    .summary("make a file of mails from an export of a mailbox")
    .description("Makes a file of mails from an export of a mailbox, for run.")
    .argument(
      "<source>",
      "an mbox, a folder of mail files (.eml, .emlx, Maildir, Apple Mail, mailboxes of Thunderbird, mixed), one mail, the .zip or .tgz of Google Takeout, or a dump of the Gmail API; mailboxes also with gzip",
    )
    .addArgument(new Argument("<out.json>", "the file to make").argParser(jsonFile))
    .addOption(
      new Option(
        "--sent-label <name>",
        "mails labelled with NAME alone were sent and are left out; may be given again. Gmail's names in thirty languages are known (Sent, Gesendet, Enviados)",
      ).argParser(collect),
    )
    .option("--skipped <file>", "name everything that was not read, and why, one a line")
    .addHelpText("after", examples("npm run triage -- import takeout.zip inbox.json"));

function collect(name: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), name];
}

function jsonFile(name: string): string {
  if (name.endsWith(".json")) return name;
  throw new InvalidArgumentError("OUT.json is to end in .json.");
}

/** The options of `report`, with its argument. */
export type ReportCommand = ReturnType<ReturnType<typeof reportCommand>["opts"]> & {
  readonly file?: string | undefined;
};

/** Declares `report`. */
export const reportCommand = (program: Command) =>
  program
    .command("report")
    .summary("make a page from the newest run: a list to act on, then plots")
    .description(
      "Makes a page (.triage.html beside the file) from the newest run of a file: a list to act on, then\nplots. Without a file it prints the page about a journal's results.",
    )
    .argument("[file]", optionalFile)
    .addOption(journalOption(mailSource))
    .addOption(runOption)
    .addOption(sinceOption)
    .addOption(onlyOption)
    .addOption(calibrationOption)
    .addOption(rulesOption);

/** Declares `explain`. */
export const explainCommand = (program: Command) =>
  program
    .command("explain")
    .summary("print what was sent, asked and answered about one mail")
    .description("Prints what was sent, asked and answered about one mail.")
    .argument("<id>", "the id of the mail")
    .argument("[file]", optionalFile)
    .addOption(journalOption(mailSource))
    .addOption(runOption);

/** Declares `questions check` and `questions schema`. */
export function questionsCommands(program: Command) {
  const questions = program
    .command("questions")
    .summary("check a file of questions, or print its JSON schema")
    .description("Checks a file of questions for --questions, or prints its JSON schema.")
    .helpCommand(false);
  const check = questions
    .command("check")
    .description("Prints what is wrong with a file of questions and where, else what it asks.")
    .argument("<file>", "a JSON object of id to question");
  const schema = questions
    .command("schema")
    .description("Prints the JSON schema that an editor completes a file of questions with.");
  return { check, schema };
}

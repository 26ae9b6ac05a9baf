import { readFile } from "node:fs/promises";
import {
  collect,
  copySample,
  createCommand,
  examples,
  InvalidArgumentError,
  Option,
  packageVersion,
  runCommand,
  UsageError,
  withUsualCommand,
} from "evaluator-kit";
import {
  addExplain,
  addRunCommands,
  addRunOptions,
  day,
  interrupted,
  optionalFile,
  type ProgramContext,
  questionsForm,
  runAction,
  sharedOptions,
} from "evaluator-runs/commands";
import { mailFormats } from "./import/mail-formats.ts";
import { addActs } from "./mailbox/act-commands.ts";
import { isMailboxUrl, refusePasswords } from "./mailbox/mailbox-url.ts";
import { mailPrograms } from "./report/mail-links.ts";

/** Runs the typed command and returns its exit code. @throws CliError that reports the problem. */
export async function runTriage(words: readonly string[], context: ProgramContext) {
  const program = createProgram(context);
  refusePasswords(words);
  try {
    const typedWords = withUsualCommand(program, words, { ...context, name: "run" });
    return await runCommand(program, typedWords, context);
  } catch (error) {
    if (!context.signal.aborted || error !== context.signal.reason) throw error;
    throw interrupted("Interrupted; nothing was written.", context.signal);
  }
}

type Program = ReturnType<typeof createCommand>;

function createProgram(context: ProgramContext): Program {
  const { source } = context;
  const version = packageVersion(import.meta.url);
  const program = createCommand(source.program, { context, version })
    .addHelpText(...examples(...source.examples.map((words) => `${source.program} ${words}`)))
    .addHelpText(
      "after",
      `
A file alone means: run file. Exit codes: 0 done; 1 wrong input, wrong words or failure;
2 records without an answer, or mails left alone; 3 apply needs --yes; 130, 143 interrupted.`,
    );
  addSample(program, context);
  addImport(program, context);
  addExplain(program, context);
  addRunCommands(program, context);
  // An action imports its command's code: loading all of it would add half the time of a short run.
  addWatch(program, context);
  addReport(program, context);
  addActs(program, context);
  addQuestions(program, context);
  for (const command of program.commands) command.helpGroup(`${findHeading(command.name())}:`);
  return program;
}

/** The commands of a first day and of many machines, by their headings in the help. */
const headings: Readonly<Record<string, readonly string[]>> = {
  "The first day": ["sample", "import", "run", "report", "serve"],
  "Many machines": ["work", "status"],
};

function findHeading(name: string): string {
  const [heading = "Later"] =
    Object.entries(headings).find(([, commands]) => commands.includes(name)) ?? [];
  return heading;
}

function addImport(program: Program, context: ProgramContext): void {
  program
    .command("import")
    .summary("make a file of mails from a mailbox or an export")
    .description(
      "An IMAP folder is only read, without sub folders. A second import adds new mails and removes those that are gone.",
    )
    .argument(
      "<source>",
      `imaps://USER@HOST/FOLDER (with TRIAGE_IMAP_PASSWORD or TRIAGE_IMAP_TOKEN), ${Object.values(mailFormats).join(", ")}, a folder of these (Maildir, Apple Mail, Thunderbird), or a Google Takeout .zip or .tgz; mailboxes also gzipped`,
    )
    .argument("<out.json>", "the file to make", jsonFile)
    .option(
      "--sent-label <name>",
      "leave out mails labelled only NAME, as sent; repeatable. Gmail's names in thirty languages are known (Sent, Gesendet, Enviados)",
      collect,
    )
    .option("--skipped <file>", "list everything that was not read, and why")
    .option("--since <day>", "from a server: only mails since that day", day)
    .addHelpText(
      ...examples(
        "evaluator-triage import takeout.zip inbox.json",
        "evaluator-triage import imaps://ada@imap.example.com/INBOX inbox.json",
      ),
    )
    .action(async (from, output, { since, ...options }) => {
      if (isMailboxUrl(from)) {
        if (Object.keys(options).length > 0) {
          throw new UsageError("--sent-label and --skipped need an export.");
        }
        context.onLoad?.(); // before the modules: 10,000 mails take 165 MB instead of 200
        const { importMailbox } = await import("./mailbox/import-mailbox.ts");
        await runAction(context, () => importMailbox({ url: from, output, since }, context));
        return;
      }
      if (since !== undefined) throw new UsageError("--since needs a mailbox, imaps://….");
      const { importMails } = await import("./import/import-mails.ts");
      await runAction(context, () => importMails({ ...options, source: from, output }, context));
    });
}

function addWatch(program: Program, context: ProgramContext): void {
  const command = program
    .command("watch")
    .summary("keep the list of an IMAP folder current")
    .description(
      "It imports the folder and asks about its mails, then prints a row for each new mail. The folder is only read. Ctrl-C ends it.",
    )
    .argument("<url>", "imaps://USER@HOST/FOLDER")
    .argument("<out.json>", "the file of mails to keep", jsonFile);
  addRunOptions(command, context).action(async (url, output, options) => {
    context.onLoad?.(); // before the modules: the first run over 10,000 mails takes 190 MB instead of 230
    const { watchMailbox } = await import("./mailbox/watch-mailbox.ts");
    const state = context.source.readState(options);
    await runAction(context, () => watchMailbox({ ...options, url, output, state }, context));
  });
}

function jsonFile(name: string): string {
  if (name.endsWith(".json")) return name;
  throw new InvalidArgumentError("OUT.json must end in .json.");
}

const openOption = new Option(
  "--open <program>",
  "program that opens mails: Gmail, Outlook on the web, Apple Mail (message) or Thunderbird (mid) (default: by the account)",
).choices(mailPrograms);

/** Declares a command that shows the list of the newest run. */
function declareList(program: Program, { source }: ProgramContext, name: string) {
  return program
    .command(name)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .addOption(sharedOptions.since)
    .addOption(sharedOptions.only)
    .addOption(sharedOptions.calibration)
    .addOption(sharedOptions.rules)
    .addOption(openOption);
}

function addReport(program: Program, context: ProgramContext): void {
  declareList(program, context, "report")
    .summary("make a page of the newest run: list and plots")
    .description("The page is .triage.html beside the file; without a file it is printed.")
    .argument("[file]", optionalFile)
    .action(async (file, options) => {
      const { writeReport } = await import("./report/write-report.ts");
      await runAction(context, () => writeReport({ ...options, file }, context));
    });
  declareList(program, context, "digest")
    .description("write the top of the list as a page or a mail; nothing is sent")
    .argument("<file>", "the input of the run")
    .addOption(new Option("--html", "write a page (default)").conflicts("eml"))
    .option("--eml", "write a mail to the first of TRIAGE_USER_ADDRESSES")
    .action(async (file, options) => {
      const { writeDigest } = await import("./report/write-digest.ts");
      await runAction(context, () => writeDigest({ ...options, file }, context));
    });
  declareList(program, context, "serve")
    .description("serve the report and keep what you do: done, snooze, wrong")
    .argument("<file>", "the input of the run")
    .option("--source <path>", "the imported export, to save mails as .eml")
    .addOption(sharedOptions.port)
    .action(async (file, options) => {
      context.onLoad?.(); // before the modules: the list of 10,000 mails takes 190 MB instead of 230
      const { serveReport } = await import("./report/serve-report.ts");
      await runAction(context, () => serveReport({ ...options, file }, context));
    });
}

const questionsSchema = new URL("../questions.schema.json", import.meta.url);

function addQuestions(program: Program, context: ProgramContext): void {
  const questions = program
    .command("questions")
    .description("check a file of questions, or print its JSON schema")
    .helpCommand(false);
  questions
    .command("check")
    .description("Prints the problems of a file of questions by line and column, or its questions.")
    .argument("<file>", questionsForm)
    .action(async (file) => {
      const { checkQuestions } = await import("./check-questions.ts");
      await runAction(context, () => checkQuestions(file, context));
    });
  questions
    .command("schema")
    .description("Prints a JSON schema, with which an editor completes questions.")
    .action(async () => void context.stdout.write(await readFile(questionsSchema, "utf8")));
}

function addSample(program: Program, context: ProgramContext): void {
  program
    .command("sample")
    .description("write invented mails, to try commands with --offline")
    .argument("[out.json]", "the file to make", jsonFile, "inbox.json")
    .action((file) =>
      copySample(import.meta.resolve("evaluator-fixtures/mail/inbox.json"), file, context),
    );
}

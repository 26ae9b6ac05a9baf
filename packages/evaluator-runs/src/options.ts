import {
  type Command,
  examples,
  Option,
  questionActions,
  UsageError,
  wholeNumber,
} from "evaluator-kit";
import type { InputOptions, RecordSource } from "./input/record-source.ts";
import type { ProgramContext } from "./service.ts";
import {
  count,
  optionalFile,
  outputFormats,
  questionsForm,
  sharedOptions,
} from "./shared-options.ts";

type Declared = ReturnType<typeof declareCommands>;
type Typed<TName extends keyof Declared> = ReturnType<Declared[TName]["opts"]>;

/** The options of a command whose only argument is the input of the run. */
export type FileCommand<TName extends keyof Declared> = Typed<TName> & {
  readonly file?: string | undefined;
};

/** Options that the source or the program of a command adds. */
interface MoreOptions extends Pick<InputOptions, "part"> {
  readonly engine?: string | undefined;
  readonly raw?: true;
  readonly sort?: string;
  readonly top?: number;
  readonly only?: string;
  readonly since?: string;
  /** The ids of records: the table shows only these, without headings. @default all */
  readonly added?: ReadonlySet<string>;
  /** The ids of records that a part has just asked about: they are not asked about again. */
  readonly asked?: ReadonlySet<string>;
  /** Records are new since the first run that ended at this time or later, in ISO 8601. @default the last run */
  readonly newSince?: string;
}

/** The options of `run`, with its argument and the options of the source. */
export type RunCommand = Typed<"run"> &
  MoreOptions & { readonly file: string; readonly state: ReturnType<RecordSource["readState"]> };
/** The options of `work`, with its argument. */
export type WorkCommand = FileCommand<"work"> & Pick<MoreOptions, "engine">;
/** The options of `export`, with its argument. */
export type ExportCommand = FileCommand<"export"> & Pick<MoreOptions, "since">;
/** The options of `label`, with its argument. */
export type LabelCommand = Typed<"label"> & { readonly file: string };
/** How a service is asked. */
export type AskingOptions = Pick<WorkCommand, "offline" | "concurrency" | "price" | "rate">;

/** The parts of a program that its options depend on. */
type DeclaredFor = Pick<ProgramContext, "source" | "engineOption" | "mayCost">;

const UNANSWERED = "\nExit code 2: some records have no answer.";

/** How a run prints its table. */
const tableOptions = () => [
  new Option("--raw", "print the answers and providerMetadata of each call before the table"),
  new Option("--sort <field>", "sort the table by a field of the results (default: importance)"),
  sharedOptions.top,
  sharedOptions.only,
];

const declareRun = (program: Command, context: DeclaredFor) => {
  const { source } = context;
  const command = program
    .command("run")
    .summary(`ask about every ${source.word} of a file, and write the results`)
    .description(
      `Results go beside it (NAME.${source.suffix}.json; stdin.${source.suffix}.json for -), and every answer into a journal (NAME.${source.suffix}.sqlite): a second run asks only for what is missing. With a journal in PostgreSQL, other machines join with the same command.${UNANSWERED}`,
    )
    .argument("<file>", source.inputForm);
  const examplesOfRun = source.examples.map((words) => `${source.program} ${words}`);
  return addRunOptions(command, context).addHelpText(...examples(...examplesOfRun));
};

/** Adds all options of `run` to a command that runs too. */
export function addRunOptions<TArguments extends unknown[]>(
  command: Command<TArguments>,
  { source, engineOption, mayCost }: DeclaredFor,
) {
  const declaredCommand = command
    .addOption(sharedOptions.limit)
    .option(
      "--questions <file>",
      `${questionsForm}${source.questions ? " (default: built in)" : ""}`,
    )
    .addOption(sharedOptions.offline)
    .option("--dry-run", "print the calls, time and cost of a run, and send nothing; needs no key")
    .addOption(sharedOptions.maxCost)
    .addOption(sharedOptions.price)
    .addOption(sharedOptions.thenPrice)
    .option("-y, --yes", `do not ask before a run ${mayCost ? "that may cost money" : "above $1"}`)
    .addOption(sharedOptions.concurrency)
    .addOption(sharedOptions.rate)
    .addOption(sharedOptions.journal(source))
    .option("--skip-invalid", "leave out invalid records and name them, instead of ending the run")
    .addOption(sharedOptions.again)
    .addOption(sharedOptions.unsure)
    .addOption(sharedOptions.thenUnsure)
    .addOption(sharedOptions.calibration)
    .addOption(sharedOptions.format);
  const days = source.dayOf === undefined ? [] : [sharedOptions.since];
  const engine = engineOption === undefined ? [] : [engineOption];
  const table = source.table === null ? [] : tableOptions();
  for (const option of [...table, ...days, ...engine, ...source.options])
    declaredCommand.addOption(option);
  return declaredCommand;
}

const declareWork = (program: Command, source: RecordSource) =>
  program
    .command("work")
    .summary("answer the rest of a run, on this machine or another")
    .description("It has the options that it was begun with.")
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.run)
    .option("--wait", "wait for runs that are still to come, and for a database that is away")
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.offline)
    .addOption(sharedOptions.again)
    .addOption(sharedOptions.unsure)
    .addOption(sharedOptions.thenUnsure)
    .addOption(sharedOptions.concurrency)
    .addOption(sharedOptions.rate)
    .addOption(sharedOptions.price)
    .addOption(sharedOptions.thenPrice);

const declareStatus = (program: Command, source: RecordSource) =>
  program
    .command("status")
    .summary("print how far runs are, how fast, at what cost, and who works")
    .description("In a terminal it goes on until they are over.")
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run);

const declareQuery = (program: Command, source: RecordSource) =>
  program
    .command("query")
    .summary(`run read-only SQL over the results: tables ${source.word}s, answers and runs`)
    .description(
      `It reads SQLite or PostgreSQL, and prints the rows. Each answer is one column; without a query the columns are printed.`,
    )
    .argument("[query]", "one statement, such as select; the file may come first")
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .addOption(
      new Option(
        "--format <format>",
        "the format of the rows (default: table on a terminal, else csv)",
      ).choices(["table", ...outputFormats] as const),
    )
    .addOption(
      new Option("--timeout <seconds>", "end the query after so many seconds")
        .argParser(wholeNumber({ minimum: 1, maximum: 3600 }))
        .default(60),
    )
    .addOption(
      new Option("--rows <n>", "end the query after so many rows").argParser(count).default(1e6),
    )
    .option("--allow-superuser", "let a role query that can do more than read");

const declareExport = (program: Command, source: RecordSource) =>
  program
    .command("export")
    .summary("print the results of a run so far, in the order of its input")
    .description(
      `With --rules it prints ids and actions, in JSON with the evidence of a promised act.${UNANSWERED}`,
    )
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .addOption(sharedOptions.format)
    .addOption(sharedOptions.only)
    .addOption(sharedOptions.calibration)
    .addOption(sharedOptions.rules);

const declareLabel = (program: Command, source: RecordSource) => {
  const { word } = source;
  return program
    .command("label")
    .summary(`label drawn ${word}s on a page, for "evaluator-cli calibrate"`)
    .description(
      `The page is on this machine, shows no answers and saves each label at once (.labels.ndjson). Each ${word} is as likely as the others. The page or Ctrl-C ends it; one page at a time saves into a file. With --for-promise it prints after each label what the labels promise (the plan is in .promise.json).`,
    )
    .argument("<file>", "the input of the run")
    .option("--question <id>", "the question to begin with (default: the first boolean)")
    .addOption(
      new Option("--count <n>", `how many ${word}s to draw for each question`)
        .argParser(wholeNumber({ minimum: 1, maximum: 100_000 }))
        .default(100),
    )
    .addOption(sharedOptions.onePer(`at most one ${word}`))
    .addOption(
      new Option(
        "--for-promise <id=yes|no|top>",
        `draw only ${word}s that might be acted on, one by one, until the labels promise the act; may be given again, and then the acts share the confidence`,
      )
        .argParser(questionActions)
        .conflicts(["count", "onePer"]),
    )
    .addOption(sharedOptions.exactlyThese(word))
    .addOption(sharedOptions.require)
    .addOption(sharedOptions.confidence)
    .addOption(
      new Option("--seed <n>", "seed of the draw").argParser(wholeNumber({ maximum: 2 ** 31 })),
    )
    .option("--labels <file>", "where the labels go (default: .labels.ndjson beside the input)")
    .option("--labeler <name>", "who labels", "person")
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .addOption(sharedOptions.port);
};

const declareAct = (program: Command, source: RecordSource) =>
  program
    .command("act")
    .summary("print the acts that a calibration promises on the answers of a run")
    .description(
      `It prints one JSON line for each ${source.word} and each question with a promised threshold, in the order of the input: { id, question, act, evidence }, or { id, question, act: null, why }. It acts on nothing itself. A calibration of another model or of other questions is refused, and nothing is printed.${UNANSWERED}`,
    )
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.artifact)
    .option("--acts-only", "print no line without an act")
    .option(
      "--labels <file>",
      "labels that are known, in each form that calibrate takes: no act contradicts one",
    )
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run);

/** Declares the commands about runs; they have no actions yet. */
export function declareCommands(program: Command, context: DeclaredFor) {
  const { source, engineOption } = context;
  refuseUrls(program, source);
  const declaredCommand = {
    run: declareRun(program, context),
    work: declareWork(program, source),
    status: declareStatus(program, source),
    query: declareQuery(program, source),
    export: declareExport(program, source),
    label: declareLabel(program, source),
    act: declareAct(program, source),
  };
  const { work, export: exportedCommand } = declaredCommand;
  if (source.dayOf !== undefined) exportedCommand.addOption(sharedOptions.since);
  if (engineOption !== undefined) work.addOption(engineOption);
  return declaredCommand;
}

// Before a command's words are parsed: an error quotes a wrong word, and a URL holds a password.
function refuseUrls(program: Command, { journalVariable }: RecordSource): void {
  program.hook("preSubcommand", ({ args }) => {
    const isUrl = /^(?:--?[\w-]+=)?postgres(?:ql)?:/i;
    const takers = ["--journal", "--answers"];
    const isWrong = (word: string, at: number) =>
      isUrl.test(word) &&
      !takers.some((flag) => flag === args[at - 1] || word.startsWith(`${flag}=`));
    if (!args.some(isWrong)) return;
    throw new UsageError(`Give the URL of a database to --journal or ${journalVariable}.`);
  });
}

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
  new Option("--raw", "print each call's answers and providerMetadata too"),
  new Option("--sort <field>", "sort the table by a field (default: importance)"),
  sharedOptions.top,
  sharedOptions.only,
];

const declareRun = (program: Command, context: DeclaredFor) => {
  const { source } = context;
  const command = program
    .command("run")
    .summary(`ask about every ${source.word} of a file`)
    .description(
      `Results go beside it (NAME.${source.suffix}.json, for - stdin.${source.suffix}.json), each answer into a journal (NAME.${source.suffix}.sqlite): the same command again asks only for the rest. A journal in PostgreSQL lets other machines join.${UNANSWERED}`,
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
    .option("--dry-run", "print calls, time and cost, and send nothing; needs no key")
    .addOption(sharedOptions.maxCost)
    .addOption(sharedOptions.price)
    .addOption(sharedOptions.thenPrice)
    .option("-y, --yes", `do not ask before ${mayCost ? "it costs money" : "a run above $1"}`)
    .addOption(sharedOptions.concurrency)
    .addOption(sharedOptions.rate)
    .addOption(sharedOptions.journal(source))
    .option("--skip-invalid", "leave out and name invalid records instead of ending")
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
    .option("--wait", "wait for later runs, and while the database is away")
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
    .summary("print progress, speed, cost and workers of runs")
    .description("A terminal shows it until they end.")
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run);

const declareQuery = (program: Command, source: RecordSource) =>
  program
    .command("query")
    .summary(`query the results with SQL: tables ${source.word}s, answers and runs`)
    .description(`Each answer is a column; without a query it prints the columns. It only reads.`)
    .argument("[query]", "one statement, such as select")
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .addOption(
      new Option(
        "--format <format>",
        "format of the rows (default: table on a terminal, else csv)",
      ).choices(["table", ...outputFormats] as const),
    )
    .addOption(
      new Option("--timeout <seconds>", "end after so many seconds")
        .argParser(wholeNumber({ minimum: 1, maximum: 3600 }))
        .default(60),
    )
    .addOption(new Option("--rows <n>", "end after so many rows").argParser(count).default(1e6))
    .option("--allow-superuser", "allow a role that may write");

const declareExport = (program: Command, source: RecordSource) =>
  program
    .command("export")
    .summary("print the results so far, in the order of the input")
    .description(
      `With --rules: ids and actions, in JSON with the evidence of promised acts.${UNANSWERED}`,
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
      `The page shows no answers and saves each label at once (.labels.ndjson). Each ${word} is equally likely. With --for-promise it prints after each label what the labels promise (the plan: .promise.json).`,
    )
    .argument("<file>", "the input of the run")
    .option("--question <id>", "the first question (default: the first boolean)")
    .addOption(
      new Option("--count <n>", `${word}s to draw for each question`)
        .argParser(wholeNumber({ minimum: 1, maximum: 100_000 }))
        .default(100),
    )
    .addOption(sharedOptions.onePer(`at most one ${word}`))
    .addOption(
      new Option(
        "--for-promise <id=yes|no|top>",
        `draw ${word}s that might be acted on until the labels promise the act; repeatable: the acts share the confidence`,
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
    .option("--labels <file>", "file of the labels (default: .labels.ndjson beside the input)")
    .option("--labeler <name>", "who labels", "person")
    .addOption(sharedOptions.journal(source))
    .addOption(sharedOptions.run)
    .addOption(sharedOptions.port);
};

const declareAct = (program: Command, source: RecordSource) =>
  program
    .command("act")
    .summary("print the promised acts on the answers of a run")
    .description(
      `It prints a JSON line for each ${source.word} and question with a promised threshold: { id, question, act, evidence } or { id, question, act: null, why }. It acts on nothing. A calibration of another model or other questions is refused.${UNANSWERED}`,
    )
    .argument("[file]", optionalFile)
    .addOption(sharedOptions.artifact)
    .option("--acts-only", "print only lines with an act")
    .option("--labels <file>", "known labels, as for calibrate: no act contradicts one")
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
    throw new UsageError(`Give a database's URL to --journal or ${journalVariable}.`);
  });
}

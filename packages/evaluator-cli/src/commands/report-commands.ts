import {
  Argument,
  collect,
  type Command,
  examples,
  InvalidArgumentError,
  Option,
  questionActions,
  parseShare,
  wholeNumber,
} from "evaluator-kit";
import { questionsForm, sharedOptions } from "evaluator-runs/commands";
import {
  type OptionsOf,
  allowUnknownOption,
  jsonOption,
  labelsOption,
  lastOption,
  seedOption,
} from "./shared-options.ts";

const answersOption = new Option(
  "--answers <file>",
  "a journal (.sqlite), decision log or NDJSON of { id, question, probability or probabilities, modelId? }; repeatable",
).argParser(collect);

const modelOption = new Option("--model <id>", "only the answers of this model");

const unkeptQuestionsOption = new Option(
  "--questions <file>",
  `${questionsForm}, if the answers do not keep it`,
);

const labelsHelp = labelsOption.description;
const moreAnswersArgument = new Argument("[answers...]", "more files of answers");

function parseGroupColumn(columnName: string): string {
  if (columnName !== "id" && columnName !== "truth") return columnName;
  throw new InvalidArgumentError("Use a column of labels, such as group.");
}

function parseCosts(typedCosts: string): { readonly falseAct: number; readonly missedAct: number } {
  const costByName = new Map(
    typedCosts.split(",").map((typedCost) => {
      const [name = "", value = ""] = typedCost.trim().split("=");
      return [name, /^\d{1,12}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN];
    }),
  );
  const [falseAct = 0, missedAct = 0] = [costByName.get("falseAct"), costByName.get("missedAct")];
  if (costByName.size === 2 && falseAct > 0 && missedAct > 0) return { falseAct, missedAct };
  throw new InvalidArgumentError("Use costs above 0, such as falseAct=5,missedAct=1.");
}

function createAnswersOption<TFlags extends string>(flags: TFlags, releaseName: string) {
  const optionHelp = `the ${releaseName} release's answers, as for calibrate; repeatable`;
  return new Option(flags, optionHelp).argParser(collect);
}

/** The commands that read recorded answers. */
export const reportCommands = {
  calibrate: (program: Command) =>
    program
      .command("calibrate")
      .summary("measure calibration on labels, and promise thresholds")
      .description(
        "It writes report.html, report.json and, if useful, calibration.json.\nExit code 3: no label has an answer, or --require and no promised threshold.",
      )
      .argument("<labels>", labelsHelp)
      .addArgument(moreAnswersArgument)
      .addOption(answersOption)
      .option("--out <dir>", "the folder of the files", "calibration")
      .option("--require <share>", "highest risk of a promise, 5% by default", parseShare)
      .addOption(
        new Option("--confidence <share>", "confidence that all promises share")
          .argParser(parseShare)
          .default(0.95, "95%"),
      )
      .option("--question <id>", "only this question; repeatable", collect)
      .option(
        "--action <id=yes|no|top>",
        "only this act (top: the likeliest option), as all acts share the confidence; repeatable",
        questionActions,
      )
      .addOption(modelOption)
      .option(
        "--by <column>",
        "also report groups by a column such as labeler; they share the confidence",
        parseGroupColumn,
      )
      .addOption(sharedOptions.onePer("use one label").argParser(parseGroupColumn))
      .option(
        "--questions <file>",
        `${questionsForm}, if the answers do not keep it; programs need it to apply the calibration`,
      )
      .option("--cost <falseAct=5,missedAct=1>", "also report the cheapest threshold", parseCosts)
      .option("--on-average", "also report the threshold that holds on average")
      .option("--with-text", "show the text of the worst rows")
      .addOption(allowUnknownOption)
      .addOption(lastOption)
      .addOption(seedOption)
      .addOption(jsonOption)
      .addHelpText(
        ...examples(
          "evaluator-cli calibrate labels.ndjson --answers inbox.triage.sqlite",
          "evaluator-cli calibrate labels.csv --answers answers.ndjson --question scam --require 2%",
        ),
      ),

  pick: (program: Command) =>
    program
      .command("pick")
      .summary("draw the records to label next")
      .description(
        "It draws more records where answers are less sure. Fill in the empty truth of each line; calibrate weighs it by its inverse probability.\nThe sheet is for scores and the curve; a promise takes fewer labels with label --for-promise.",
      )
      .addArgument(moreAnswersArgument)
      .addOption(answersOption)
      .addOption(
        new Option("--acts <file>", "draw from the lines of act, for audit").conflicts([
          "answers",
          "onePer",
        ]),
      )
      .requiredOption(
        "--budget <n>",
        "how many records to label",
        wholeNumber({ minimum: 1, maximum: 1_000_000 }),
      )
      .option("--question <id>", "question to label, if there are several")
      .addOption(modelOption)
      .addOption(sharedOptions.onePer("at most one record", "a field (of a journal: of the state)"))
      .addOption(
        new Option(
          "--for-promise <id=yes|no|top>",
          "draw what a promise needs next, as label --for-promise; repeatable",
        )
          .argParser(questionActions)
          .conflicts(["acts", "onePer", "question"]),
      )
      .option("--labels <file>", "with --for-promise: labels so far, beside their plan")
      .addOption(sharedOptions.exactlyThese("record"))
      .addOption(sharedOptions.require)
      .addOption(sharedOptions.confidence)
      .option("--out <file>", "file of the sheet (default: printed)")
      .addOption(seedOption)
      .addOption(lastOption)
      .addHelpText(
        ...examples(
          "evaluator-cli pick --answers inbox.triage.sqlite --question scam --budget 100 --out sheet.ndjson",
          "evaluator-cli pick --acts acts.ndjson --budget 60 --out later.ndjson",
          "evaluator-cli pick --answers inbox.triage.sqlite --labels labels.ndjson --for-promise scam=yes --budget 20",
        ),
      ),

  check: (program: Command) =>
    program
      .command("check")
      .summary("test a calibration's thresholds on new labels")
      .description(
        "Without --answers, a label holds its answer: { id, question, truth, probability or probabilities, modelId?, questionHash? }. Labels that made the promise are left out; skipped ones count as wrong.\nWith --state, labels of acts join a test that may be repeated: at most 5 % ever raise a false alarm.\nExit code 0: all hold. 1: one is broken, an alarm, or refused answers. 3: too few labels, or no random draw of the acts.",
      )
      .argument("<calibration.json>", "thresholds that calibrate wrote")
      .requiredOption("--labels <file>", labelsHelp)
      .addOption(answersOption)
      .addOption(unkeptQuestionsOption)
      .option("--state <file>", "add the labels to this file's alarms")
      .addOption(allowUnknownOption)
      .addOption(lastOption)
      .addOption(jsonOption)
      .addHelpText(
        ...examples(
          "evaluator-cli check calibration/calibration.json --labels june.ndjson --answers inbox.triage.sqlite",
          "evaluator-cli check calibration/calibration.json --labels spot.ndjson --answers inbox.triage.sqlite --state alarm.json",
        ),
      ),

  audit: (program: Command) =>
    program
      .command("audit")
      .summary("test on later labels whether promises were kept")
      .description(
        "It prints for each promise: kept, broken, or not enough labels, with the exact 95 % interval of wrong acts. A skip counts as wrong. Draw the labels with pick --acts.\nExit code 0: all kept. 1: one is broken. 3: too few labels, or no random draw.",
      )
      .argument("<acts>", "the lines that act printed")
      .requiredOption("--labels <file>", labelsHelp)
      .option(
        "--artifact <calibration.json>",
        "leave out labels of this calibration; repeatable",
        collect,
      )
      .option("--question <id>", "only this question; repeatable", collect)
      .addOption(lastOption)
      .addOption(jsonOption)
      .addHelpText(...examples("evaluator-cli audit acts.ndjson --labels later.ndjson")),

  drift: (program: Command) =>
    program
      .command("drift")
      .summary("compare the answers of two releases")
      .description(
        'It compares printed values and flipped answers of the same records. Without labels it reports "changed", never "worse"; with labels also which release is right more often, and it tests every promised threshold.\nExit code 0: nothing changed (with labels: nothing is worse and all promises hold). 1: something did. 3: the labels test nothing: too few, unanswered, or no random draw of the acts.',
      )
      .addOption(createAnswersOption("--before <file>", "first").makeOptionMandatory())
      .addOption(createAnswersOption("--after <file>", "second").makeOptionMandatory())
      .addOption(labelsOption)
      .option("--calibration <file>", "promised thresholds to test; needs --labels")
      .addOption(unkeptQuestionsOption)
      .addOption(seedOption)
      .addOption(allowUnknownOption)
      .addOption(lastOption)
      .addOption(jsonOption)
      .addHelpText(
        ...examples(
          "evaluator-cli drift --before may.triage.sqlite --after june.triage.sqlite",
          "evaluator-cli drift --before a.ndjson --after b.ndjson --labels labels.ndjson --calibration calibration/calibration.json",
        ),
      ),

  record: (program: Command) =>
    program
      .command("record")
      .summary("record exchanges of a live service, or compare with them")
      .description(
        "It costs money. With --compare it writes nothing and reports differences in the shape of answers (keys and types). Keys and addresses: AI_GATEWAY_API_KEY and EVALUATOR_BASE_URL; EVALUATOR_DIRECT_API_KEY and EVALUATOR_DIRECT_BASE_URL.\nExit code 0: all recorded (with --compare: the shapes agree). 1: not run, or the shapes differ. 2: unusable answers.",
      )
      .argument(
        "[names...]",
        "exchanges such as gateway/greeting-routes-to-nano (default: all successful evaluations of the transports with a key)",
      )
      .option("--exchanges <dir>", "the folder of the exchanges", "fixtures/exchanges")
      .option("--out <dir>", "folder of recordings (default: --exchanges)")
      .option("--replace", "replace exchanges written from the contract")
      .addOption(
        new Option("--compare", "compare shapes instead of recording").conflicts([
          "out",
          "replace",
        ]),
      )
      .addHelpText(
        ...examples(
          "evaluator-cli record gateway/greeting-routes-to-nano --out recordings",
          "evaluator-cli record --compare",
        ),
      ),
};

/** The typed options of a command. */
export type ReportOptions<TName extends keyof typeof reportCommands> = OptionsOf<
  (typeof reportCommands)[TName]
>;

/** The options of `calibrate`, with its arguments. */
export type CalibrateOptions = ReportOptions<"calibrate"> & {
  readonly labels: string;
  readonly more: readonly string[];
};

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
  "a journal (.sqlite), the router's decision log, or NDJSON of { id, question, probability or probabilities, modelId? }; may be given again",
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
  throw new InvalidArgumentError("Use a column that groups labels, such as group.");
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
  throw new InvalidArgumentError("Use two costs above 0, such as falseAct=5,missedAct=1.");
}

function createAnswersOption<TFlags extends string>(flags: TFlags, releaseName: string) {
  const optionHelp = `the ${releaseName} release's answers, as for calibrate; may be given again`;
  return new Option(flags, optionHelp).argParser(collect);
}

/** The commands that read recorded answers. */
export const reportCommands = {
  calibrate: (program: Command) =>
    program
      .command("calibrate")
      .summary("measure calibration on labelled records, and which threshold can be promised")
      .description(
        "It writes report.html, report.json and, if it is useful, calibration.json.\nExit code 3: no label has an answer, or --require is given and no threshold can be promised.",
      )
      .argument("<labels>", labelsHelp)
      .addArgument(moreAnswersArgument)
      .addOption(answersOption)
      .option("--out <dir>", "the folder of the files", "calibration")
      .option("--require <share>", "the highest risk of a promise, 5% by default", parseShare)
      .addOption(
        new Option("--confidence <share>", "the confidence that all promises of a report share")
          .argParser(parseShare)
          .default(0.95, "95%"),
      )
      .option("--question <id>", "only this question; may be given again", collect)
      .option(
        "--action <id=yes|no|top>",
        "only this act (top: act on the most probable option); fewer acts share the confidence, so each takes fewer labels; may be given again",
        questionActions,
      )
      .addOption(modelOption)
      .option(
        "--by <column>",
        "report each group of the labels too, by a column such as group or labeler; the groups share the confidence as well",
        parseGroupColumn,
      )
      .addOption(sharedOptions.onePer("promise from one label").argParser(parseGroupColumn))
      .option(
        "--questions <file>",
        `${questionsForm}, if the answers do not keep it; without it no program applies the calibration`,
      )
      .option(
        "--cost <falseAct=5,missedAct=1>",
        "report the threshold that costs least too",
        parseCosts,
      )
      .option("--on-average", "report the weaker threshold that holds on average too")
      .option("--with-text", "show the text of the worst rows, not only their ids")
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
      .summary("draw the records to label next, with the probability of being drawn")
      .description(
        "It draws most records where the answers are least sure, and some everywhere. Each line of the sheet has an empty truth to fill in, and no answer of the model; calibrate weighs the label by the inverse of the probability.\nThe sheet is for scores and the curve; for a promise use label --for-promise, which takes fewer labels.",
      )
      .addArgument(moreAnswersArgument)
      .addOption(answersOption)
      .addOption(
        new Option(
          "--acts <file>",
          "draw from the lines of act instead, each with the same probability, for audit",
        ).conflicts(["answers", "onePer"]),
      )
      .requiredOption(
        "--budget <n>",
        "how many records to label",
        wholeNumber({ minimum: 1, maximum: 1_000_000 }),
      )
      .option("--question <id>", "which question to label; needed if there are several")
      .addOption(modelOption)
      .addOption(sharedOptions.onePer("at most one record", "a field (of a journal: of the state)"))
      .addOption(
        new Option(
          "--for-promise <id=yes|no|top>",
          "draw the records that the promise of an act needs next, as label --for-promise does; may be given again",
        )
          .argParser(questionActions)
          .conflicts(["acts", "onePer", "question"]),
      )
      .option("--labels <file>", "with --for-promise: the labels so far; the plan is beside them")
      .addOption(sharedOptions.exactlyThese("record"))
      .addOption(sharedOptions.require)
      .addOption(sharedOptions.confidence)
      .option("--out <file>", "where the sheet goes; it is printed by default")
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
      .summary("test the thresholds of a calibration again on new labels")
      .description(
        "Without --answers, each label also holds the printed probability: { id, question, truth, probability or probabilities, modelId?, questionHash? }. Labels that made the promise are left out; skipped records count as wrong. Answers of another model or to other questions are refused.\nWith --state, labels of records that were acted on are added to a test that may be run any number of times: at most 5 % of such tests ever raise a false alarm.\nExit code 0: all hold. 1: one is broken or there is an alarm, or the answers are refused. 3: too few labels, or they are no random draw of the records that were acted on.",
      )
      .argument("<calibration.json>", "the thresholds, as calibrate wrote them")
      .requiredOption("--labels <file>", labelsHelp)
      .addOption(answersOption)
      .addOption(unkeptQuestionsOption)
      .option(
        "--state <file>",
        "add the new labels to the alarms that this file keeps; exit code 1 from an alarm on",
      )
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
      .summary("test on later labels whether the promises of acts were kept")
      .description(
        "It joins the lines of act with labels by id and question, and prints for each promise: kept, broken, or not enough labels, with the exact 95 % interval of the wrong acts. A skip counts as wrong. Draw the records to label with pick --acts.\nExit code 0: all kept. 1: one is broken. 3: too few labels, or they are no random draw.",
      )
      .argument("<acts>", "the lines that act printed")
      .requiredOption("--labels <file>", labelsHelp)
      .option(
        "--artifact <calibration.json>",
        "leave out labels that made the promise, by this calibration; may be given again",
        collect,
      )
      .option("--question <id>", "only this question; may be given again", collect)
      .addOption(lastOption)
      .addOption(jsonOption)
      .addHelpText(...examples("evaluator-cli audit acts.ndjson --labels later.ndjson")),

  drift: (program: Command) =>
    program
      .command("drift")
      .summary("compare the answers of two releases, with or without labels")
      .description(
        'It compares their printed values, and the answers that flipped on the same records. Without labels it reports "changed", never "worse"; with labels it also reports which release is right more often, and tests every promised threshold again.\nExit code 0: nothing changed (with labels: nothing is worse, and every promise holds). 1: something did. 3: labels that test nothing: too few, without an answer in both releases, or no random draw of the records that were acted on.',
      )
      .addOption(createAnswersOption("--before <file>", "first").makeOptionMandatory())
      .addOption(createAnswersOption("--after <file>", "second").makeOptionMandatory())
      .addOption(labelsOption)
      .option(
        "--calibration <file>",
        "the promised thresholds to test again, as calibrate wrote them; needs --labels",
      )
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
      .summary("record exchanges from a live service, or compare its answers with them")
      .description(
        "It asks the requests of exchanges, which costs money. With --compare it writes nothing, and reports each difference in the shape of an answer (keys and types, not values) from the exchanges and the contract. Keys and addresses: AI_GATEWAY_API_KEY and EVALUATOR_BASE_URL; EVALUATOR_DIRECT_API_KEY and EVALUATOR_DIRECT_BASE_URL.\nExit code 0: all recorded (with --compare: the shapes agree). 1: not run, or the shapes differ. 2: some answers could not be used.",
      )
      .argument(
        "[names...]",
        "exchanges such as gateway/greeting-routes-to-nano; without names every successful evaluation through each transport that has a key",
      )
      .option("--exchanges <dir>", "the folder of the exchanges", "fixtures/exchanges")
      .option("--out <dir>", "where recordings go (default: the folder of the exchanges)")
      .option("--replace", "replace exchanges that are written from the contract")
      .addOption(
        new Option(
          "--compare",
          "compare the shape of the answers instead of recording them",
        ).conflicts(["out", "replace"]),
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

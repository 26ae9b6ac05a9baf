import { type Command, Option, questionActions, share, wholeNumber } from "evaluator-kit";
import type { RecordSource } from "./input/record-source.ts";
import { sharedOptions } from "./shared-options.ts";

/** The options of `label`, with its argument. */
export type LabelCommand = ReturnType<ReturnType<typeof declareLabel>["opts"]> & {
  readonly file: string;
};

/** Declares `label`; it has no action yet. */
export const declareLabel = (program: Command, { word }: RecordSource) =>
  program
    .command("label")
    .summary(`label drawn ${word}s on a page, for "evaluator-cli calibrate"`)
    .description(
      `Serves a page on this machine that shows ${word}s without the answers, and saves each label at once\n(.labels.ndjson), for "evaluator-cli calibrate". Each ${word} is as likely as the others. The page or\nCtrl-C ends it. One page at a time saves into a file. With --for-promise it prints after each label\nwhat the labels promise (the plan is in .promise.json).`,
    )
    .argument("<file>", "the input of the run")
    .option("--question <id>", "the question to begin with (default: the first boolean)")
    .addOption(
      new Option("--count <n>", `how many ${word}s to draw for each question`)
        .argParser(wholeNumber({ min: 1, max: 100_000 }))
        .default(100),
    )
    .option(
      "--one-per <column>",
      `at most one ${word} of each value of a field of the state, such as thread: labels of one thread are not independent`,
    )
    .addOption(
      new Option(
        "--for-promise <id=yes|no|top>",
        `draw only ${word}s that might be acted on, one by one, until the labels promise the act; may be given again, and then the acts share the confidence`,
      )
        .argParser(questionActions)
        .conflicts(["count", "onePer"]),
    )
    .option("--require <share>", "with --for-promise: the highest risk (default: 5%)", share)
    .option("--confidence <share>", "with --for-promise: how sure it is (default: 95%)", share)
    .addOption(
      new Option("--seed <n>", "seed of the draw").argParser(wholeNumber({ max: 2 ** 31 })),
    )
    .option("--labels <file>", "where the labels go (default: .labels.ndjson beside the input)")
    .option("--labeler <name>", "who labels", "person")
    .addOption(sharedOptions.port);

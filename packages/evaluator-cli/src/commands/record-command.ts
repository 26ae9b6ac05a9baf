import { type Command, Option } from "evaluator-kit";
import { examples } from "./shared-options.ts";

/** The options of `record`, with its arguments. */
export type RecordOptions = ReturnType<ReturnType<typeof recordCommand>["opts"]> & {
  readonly names: readonly string[];
};

/** Declares `record`. */
export const recordCommand = (program: Command) =>
  program
    .command("record")
    .summary("record exchanges from a live service, or compare its answers with them")
    .description(
      "Asks a live service the requests of exchanges, which costs money, and records its answers.\nWith --compare it writes nothing, and reports where the shape of an answer (keys and types,\nnot values) differs from the exchanges and the contract. Keys and addresses: AI_GATEWAY_API_KEY\nand EVALUATOR_BASE_URL; EVALUATOR_DIRECT_API_KEY and EVALUATOR_DIRECT_BASE_URL.\nExit code 0: all recorded (with --compare: the shapes agree). 1: not run, or the shapes differ.\n2: some answers could not be used.",
    )
    .argument(
      "[names...]",
      "exchanges such as gateway/greeting-routes-to-nano; without names every successful evaluation through each transport that has a key",
    )
    .addOption(
      new Option("--exchanges <dir>", "the folder of the exchanges").default("fixtures/exchanges"),
    )
    .option("--out <dir>", "where recordings go (default: the folder of the exchanges)")
    .option("--replace", "replace exchanges that are written from the contract")
    .addOption(
      new Option(
        "--compare",
        "compare the shape of the answers instead of recording them",
      ).conflicts(["out", "replace"]),
    )
    .addHelpText(
      "after",
      examples(
        "evaluator record gateway/greeting-routes-to-nano --out recordings",
        "evaluator record --compare",
      ),
    );

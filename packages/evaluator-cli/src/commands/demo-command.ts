import { type Command, decimal, examples, Option, wholeNumber } from "evaluator-kit";
import type { OptionsOf } from "./shared-options.ts";

/** Declares `demo`; it has no action yet. */
export const declareDemo = (program: Command) =>
  program
    .command("demo")
    .summary("see a promise in a minute: a simulated model, invented tickets, no key")
    .description(
      "Lets a simulated model answer 400 invented tickets, labels some, promises a threshold, acts, and\nrefuses another model. No model is asked and nothing leaves this machine. The other commands\ntake its files.\nExit code 0: promised, and the other model was refused. 3: no threshold can be promised.",
    )
    .addOption(new Option("--auto", "label without a page (default: if no terminal)"))
    .addOption(new Option("--page", "label on a page (default: on a terminal)").conflicts("auto"))
    .option("--out <dir>", "where the files go", "evaluator-demo")
    .option("--port <n>", "the page's port; 0 takes any free one", wholeNumber({ max: 65_535 }), 0)
    .option("--skill <x>", "of the model: 0 knows nothing, 1 all", decimal({ max: 1 }), 0.8)
    .option("--count <n>", "how many labels in all", wholeNumber({ min: 1, max: 400 }), 200)
    .option("--seed <n>", "seed of the random draws", wholeNumber({ max: 2 ** 31 }), 1)
    .addHelpText(
      ...examples("npx evaluator-cli demo", "npx evaluator-cli demo --auto --skill 0.5"),
    );

/** The options of `demo`. */
export type DemoOptions = OptionsOf<typeof declareDemo>;

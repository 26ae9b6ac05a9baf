import { resolve } from "node:path";
import { type CliContext, createCommand, Option, packageVersion, wordList } from "evaluator-kit";
import { targetNames } from "./targets/targets.ts";
import { sectionNames } from "./sections.ts";

/** The parsed options. */
export type BenchOptions = ReturnType<ReturnType<typeof benchCommand>["opts"]>;

/** Declares the command. */
export function benchCommand(context: CliContext) {
  const path = (folder: string) => resolve(context.cwd, folder);
  return createCommand("npm run bench --", { context, version: packageVersion(import.meta.url) })
    .option("--long", "measure longer, for figures to quote")
    .addOption(
      new Option("--only <a,b>", `only these parts: ${sectionNames.join(", ")}`)
        .argParser(wordList(sectionNames))
        .default(sectionNames, "all"),
    )
    .addOption(
      new Option("--targets <a,b>", `only these targets of calls: ${targetNames.join(", ")}`)
        .argParser(wordList(targetNames))
        .default(targetNames, "all"),
    )
    .option("--against <folder>", "measure the SDK of another checkout too, in calls", path)
    .option("--profile <folder>", "write a CPU profile of each asking process there", path);
}

import { resolve } from "node:path";
import { parseWords, readPositionals, readWordList } from "evaluator-kit";
import { targetNames } from "./targets/targets.ts";
import { sectionNames } from "./sections.ts";

/** The parsed command line. */
export type BenchArguments = ReturnType<typeof readBenchArguments>;

const options = {
  long: { type: "boolean", default: false },
  only: { type: "string" },
  targets: { type: "string" },
  against: { type: "string" },
  profile: { type: "string" },
} as const;

/**
 * Parses the command line.
 *
 * @param cwd - The base folder of relative paths.
 * @throws UsageError that names the argument and the allowed values.
 */
export function readBenchArguments(words: readonly string[], cwd: string) {
  const { values, positionals } = parseWords(words, options);
  readPositionals(positionals, []);
  const some = <TName extends string>(
    option: "only" | "targets",
    known: readonly TName[],
  ): readonly TName[] => {
    const given = values[option];
    return given === undefined ? known : readWordList(`--${option}`, given, known);
  };
  const path = (given: string | undefined) => (given === undefined ? null : resolve(cwd, given));
  return {
    long: values.long,
    sections: some("only", sectionNames),
    targets: some("targets", targetNames),
    /** The client's workspace in another checkout, to be measured as well, or null. */
    against: path(values.against),
    /** Where CPU profiles go, or null. */
    profile: path(values.profile),
  };
}

/** How the command is typed. */
export const usage = `Usage: npm run bench -- [options]

  --long            measure for long, for figures to quote; a short look when not given
  --only A,B        only these parts: ${sectionNames.join(", ")}
  --targets A,B     only these ways to ask, in calls:
                    ${targetNames.join("\n                    ")}
  --against FOLDER  measure the SDK of another checkout as well, where calls are compared
  --profile FOLDER  leave a CPU profile of each asking process there
  --help            print this
`;

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ownClient, repository } from "../client-build/build-client.ts";
import { targetNames, type TargetName } from "../calls/targets.ts";
import { type SectionName, sectionNames } from "../sections.ts";

/** What the command line asks for. */
export interface BenchArguments {
  readonly help: boolean;
  readonly long: boolean;
  readonly sections: readonly SectionName[];
  readonly targets: readonly TargetName[];
  /** Where the figures go as JSON. */
  readonly out: string;
  /** The client's workspace that is measured. */
  readonly client: string;
  /** The client's workspace in another checkout, to be measured as well, or null. */
  readonly against: string | null;
  /** Where CPU profiles go, or null. */
  readonly profile: string | null;
}

/** Where the figures go when nothing else is said; not under version control. */
export const defaultOut = join(repository, "packages/benchmarks/reports/benchmark.json");

const options = {
  help: { type: "boolean", short: "h", default: false },
  long: { type: "boolean", default: false },
  only: { type: "string" },
  targets: { type: "string" },
  out: { type: "string" },
  client: { type: "string" },
  against: { type: "string" },
  profile: { type: "string" },
} as const;

/**
 * Reads the command line.
 *
 * @param cwd - The folder that a relative path starts from.
 * @throws Error that names the argument and what it may be.
 */
export function readBenchArguments(words: readonly string[], cwd: string): BenchArguments {
  const { values } = parseArgs({ args: [...words], options });
  const path = (given: string | undefined) => (given === undefined ? null : resolve(cwd, given));
  return {
    help: values.help,
    long: values.long,
    sections: readNames("--only", values.only, sectionNames),
    targets: readNames("--targets", values.targets, targetNames),
    out: path(values.out) ?? defaultOut,
    client: path(values.client) ?? ownClient,
    against: path(values.against),
    profile: path(values.profile),
  };
}

/** Some of the known names, in their known order; all when not given. */
function readNames<TName extends string>(
  flag: string,
  given: string | undefined,
  known: readonly TName[],
): readonly TName[] {
  if (given === undefined) return known;
  const names = given.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(known as readonly string[]).includes(name));
  if (unknown === undefined) return known.filter((name) => names.includes(name));
  throw new Error(`${flag} has no "${unknown}"; it takes some of ${known.join(",")}.`);
}

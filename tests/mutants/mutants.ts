import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

/** A small mistake in a source file that a test must notice. */
export interface Mutant {
  readonly id: string;
  /** Path from the root of the repository. */
  readonly file: string;
  /** The text that the mistake replaces. It occurs exactly once in `file`. */
  readonly before: string;
  readonly after: string;
  /** The test file that fails, or `simulate:SEED,SEED`, of whose seeds one fails. */
  readonly killedBy: string;
  /** The harm for a user, as one sentence. */
  readonly harm: string;
}

export const root = dirname(dirname(import.meta.dirname));
const keys = ["id", "file", "before", "after", "killedBy", "harm"];

/** Reads the mutants of all topics, from the working tree or as another version of the repository has them. */
export function readMutants(read: (topic: string) => string | null = readSource): Mutant[] {
  // Git and the lists of tests write paths with slashes on each system.
  const topics = globSync("tests/mutants/*.json", { cwd: root }).map((file) =>
    file.replaceAll("\\", "/"),
  );
  return topics.toSorted().flatMap((topic) => JSON.parse(read(topic) ?? "[]") as Mutant[]);
}

/** Returns the seeds of `simulate:SEED,SEED`, none for a test file. */
export function seedsOf(killedBy: string): readonly string[] {
  const [, seeds] = /^simulate:(\d+(?:,\d+)*)$/.exec(killedBy) ?? [];
  return seeds?.split(",") ?? [];
}

/** Returns a source with the mistake. */
export function mutate({ before, after }: Mutant, source: string): string {
  return source.replace(before, () => after);
}

/** Returns a sentence for each mutant that does not apply, or that breaks a rule of its form. */
export function problemsOf(mutants: readonly Mutant[]): string[] {
  const sources = new Map<string, string | null>();
  const ids = new Set<string>();
  return mutants.flatMap((mutant) => {
    const { id, file } = mutant;
    if (!sources.has(file)) sources.set(file, readSource(file));
    const problems = ids.has(id) ? ["has the id of another mutant"] : problemsIn(mutant);
    ids.add(id);
    const source = sources.get(file) ?? null;
    if (source === null) problems.push(`names ${file}, which does not exist`);
    else problems.push(...problemsOfChange(mutant, source));
    return problems.map((problem) => `The mutant "${id}" ${problem}.`);
  });
}

function readSource(file: string): string | null {
  return existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : null;
}

function problemsIn(mutant: Mutant): string[] {
  const { killedBy } = mutant;
  const problems: string[] = [];
  if (Object.keys(mutant).join() !== keys.join())
    problems.push(`has other keys than ${keys.join()}`);
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(mutant.id))
    problems.push("has an id that is not in kebab case");
  if (!/^[A-Z].*\.$/.test(mutant.harm)) problems.push("has a harm that is no sentence");
  const isTest = killedBy.endsWith(".test.ts") && existsSync(join(root, killedBy));
  if (!isTest && seedsOf(killedBy).length === 0)
    problems.push(`is killed by ${killedBy}, which is neither a test file nor simulate:SEED,SEED`);
  return problems;
}

function problemsOfChange(mutant: Mutant, source: string): string[] {
  const { file, before, after } = mutant;
  const count = before === "" ? 0 : source.split(before).length - 1;
  if (count !== 1) return [`does not apply: its "before" occurs ${count} times in ${file}`];
  if (before === after) return ["changes nothing"];
  // Each test would fail, whatever it checks.
  const { errors } = parseSync(file, mutate(mutant, source));
  return errors.length > 0 ? [`is no TypeScript: ${errors[0]?.message}`] : [];
}

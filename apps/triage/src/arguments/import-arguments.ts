import { UsageError } from "../errors.ts";
import { toOutputPath } from "../output/paths.ts";
import { parseWords } from "./parse-words.ts";

/** An export to make an input file from. */
export interface ImportCommand {
  readonly name: "import";
  /** The export as typed. */
  readonly source: string;
  /** The input file to make, as typed. */
  readonly output: string;
  /** What the sent label is called besides the names known. */
  readonly sentLabels: readonly string[];
  /** Where what is not read is named, as typed; null for nowhere. */
  readonly skipped: string | null;
}

const flags = {
  "sent-label": { type: "string", multiple: true },
  skipped: { type: "string" },
} as const;

/** Reads the words of an import. */
export function readImportArguments(words: readonly string[]): ImportCommand {
  const { positionals, values } = parseWords(words, flags);
  const [source, output, ...others] = positionals;
  if (source === undefined || output === undefined || others.length > 0) {
    throw new UsageError("import takes two paths: SOURCE and OUT.json");
  }
  toOutputPath(output); // refuses what could not be triaged later
  const { "sent-label": sentLabels = [], skipped = null } = values;
  if (skipped === output) throw new UsageError("--skipped takes a file of its own");
  return { name: "import", source, output, sentLabels, skipped };
}

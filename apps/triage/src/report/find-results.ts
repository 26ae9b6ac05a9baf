import { type Stats, statSync } from "node:fs";
import { TriageError } from "../errors.ts";
import { toOutputPath } from "../output/output-path.ts";
import { plainMessage } from "../text/plain-message.ts";

/** A file of results that can be read back. */
export interface ResultsFile {
  readonly path: string;
  readonly format: "json" | "ndjson";
}

/**
 * Finds the newest results of an input.
 *
 * @throws TriageError when there are none, or only CSV, in which cells are changed to be safe.
 */
export function findResults(inputPath: string): ResultsFile {
  const files = (["json", "ndjson"] as const).flatMap((format) => {
    const path = toOutputPath(inputPath, format);
    const stats = statsOf(path);
    return stats === undefined ? [] : [{ path, format, writtenAtMs: stats.mtimeMs }];
  });
  const [newest] = files.toSorted((one, other) => other.writtenAtMs - one.writtenAtMs);
  if (newest !== undefined) return newest;
  const csvPath = toOutputPath(inputPath, "csv");
  throw new TriageError(
    statsOf(csvPath) === undefined
      ? plainMessage`There are no results at ${toOutputPath(inputPath)}; run triage on the file first.`
      : plainMessage`A report is not made from ${csvPath}; run triage on the file again without --format, which asks nothing again.`,
  );
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

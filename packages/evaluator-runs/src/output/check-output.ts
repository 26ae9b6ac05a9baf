import { statSync } from "node:fs";
import { mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, printable, toFileError } from "evaluator-kit";

/**
 * Checks before any call that the results can be written.
 *
 * @throws CliError if they cannot, or would replace the input.
 */
export async function checkOutput(outputPath: string, inputPath: string): Promise<void> {
  try {
    checkReplaceable(outputPath, inputPath);
    // A permission check is not enough on a read-only or full disk, so this creates a folder.
    await rmdir(await mkdtemp(join(dirname(outputPath), ".triage-")));
  } catch (error) {
    throw toFileError(
      error,
      `write ${outputPath}`,
      "Move the input file to another place or name.",
    );
  }
}

function checkReplaceable(outputPath: string, inputPath: string): void {
  const [output, input] = [outputPath, inputPath].map((path) => {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  });
  if (output === undefined) return;
  // Two names of one file, by a link or a file system that ignores case.
  if (output.dev === input?.dev && output.ino === input.ino) {
    throw new CliError(
      printable`${outputPath} is the input file itself; give the input its own file.`,
    );
  }
  if (!output.isFile()) {
    throw new CliError(printable`${outputPath} is in the way and is not a file; move it.`);
  }
}

import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, printable, systemFiles, toFileError } from "evaluator-kit";
import type { Machine } from "../machine.ts";

/**
 * Checks before any call that the results can be written.
 *
 * @throws CliError if they cannot, or would replace the input.
 */
export async function checkOutput(
  outputPath: string,
  inputPath: string,
  { files = systemFiles, newId = randomUUID }: Pick<Machine, "files" | "newId"> = {},
): Promise<void> {
  try {
    checkReplaceable(outputPath, inputPath);
    // A permission check is not enough on a read-only or full disk, so this creates a file.
    const temporaryPath = join(dirname(outputPath), `.${newId()}.tmp`);
    files.close(files.open(temporaryPath, "wx"));
    files.remove(temporaryPath);
  } catch (error) {
    throw toFileError(error, `write ${outputPath}`);
  }
}

function checkReplaceable(outputPath: string, inputPath: string): void {
  const [output, input] = [outputPath, inputPath].map((path) => {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  });
  if (output === undefined) return;
  // Two names of one file, by a link or a file system that ignores case.
  if (output.dev === input?.dev && output.ino === input.ino) {
    throw new CliError(printable`${outputPath} is the input file itself; move the input.`);
  }
  if (!output.isFile()) {
    throw new CliError(printable`${outputPath} is in the way and is not a file; move it.`);
  }
}

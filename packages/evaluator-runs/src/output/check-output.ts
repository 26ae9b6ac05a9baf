import type { BigIntStats } from "node:fs";
import { mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, printable, systemErrorCode, toFileError } from "evaluator-kit";

/**
 * Checks before any call that the results can be written.
 *
 * @throws CliError if they cannot, or would replace the input.
 */
export async function checkOutput(outputPath: string, inputPath: string): Promise<void> {
  try {
    await checkReplaceable(outputPath, inputPath);
    await checkWritable(dirname(outputPath));
  } catch (error) {
    throw toFileError(
      error,
      `write ${outputPath}`,
      "Move the input file to another place or name.",
    );
  }
}

async function checkReplaceable(outputPath: string, inputPath: string): Promise<void> {
  const output = await statIfThere(outputPath);
  if (output === null) return;
  const input = await statIfThere(inputPath);
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

async function statIfThere(path: string): Promise<BigIntStats | null> {
  return await stat(path, { bigint: true }).catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return null;
    throw error;
  });
}

// A permission check is not enough on a read-only or full disk, so this creates a folder.
async function checkWritable(folder: string): Promise<void> {
  await rmdir(await mkdtemp(join(folder, ".triage-")));
}

import type { BigIntStats } from "node:fs";
import { mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, printable, systemErrorCode, toFileError } from "evaluator-kit";

/**
 * Throws, before anything is paid for, when the results cannot be put in their place.
 *
 * @throws CliError that says why; also when they would replace the input.
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
  // Two names of one file, be it by a link or by a file system that ignores case.
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

// Asking for permission is not enough on a read-only or full disk, so something is really made.
async function checkWritable(folder: string): Promise<void> {
  await rmdir(await mkdtemp(join(folder, ".triage-")));
}

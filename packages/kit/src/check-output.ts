import { randomUUID } from "node:crypto";
import { type BigIntStats, closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, toFileError } from "./errors.ts";
import { type FileSystem, systemFiles } from "./file-system.ts";
import { printable } from "./printable.ts";

interface OutputOptions {
  /** Returns whether the command wrote a file, by its first 64 kB. @default any file may be replaced */
  readonly isOwn?: ((beginning: string) => boolean) | undefined;
  /** @default the files of this machine */
  readonly files?: FileSystem | undefined;
  /** Names the temporary file. @default randomUUID */
  readonly newId?: (() => string) | undefined;
}

/**
 * Checks before any work that a file can be written, and that nothing of a person is replaced: an input, or a
 * file that the command did not write; an earlier output counts as an input. A pipe or a device takes any text.
 *
 * @throws CliError if it cannot be written.
 */
export async function checkOutput(
  outputPath: string,
  inputPaths: readonly string[],
  { isOwn, files = systemFiles, newId = randomUUID }: OutputOptions = {},
): Promise<void> {
  try {
    const outputStats = statFile(outputPath);
    if (outputStats !== undefined) checkReplaceable({ outputPath, outputStats }, inputPaths, isOwn);
    else if (
      inputPaths.some((inputPath) => files.realpath(inputPath) === files.realpath(outputPath))
    )
      throw new CliError(printable`${outputPath} is named for two files; name another.`);
    if (outputStats !== undefined && !outputStats.isFile()) return;
    // A permission check is not enough on a read-only or full disk.
    files.probe(join(dirname(files.realpath(outputPath)), `.${newId()}.tmp`));
  } catch (error) {
    throw toFileError(error, `write ${outputPath}`);
  }
}

function statFile(filePath: string) {
  return statSync(filePath, { bigint: true, throwIfNoEntry: false });
}

function checkReplaceable(
  { outputPath, outputStats }: { readonly outputPath: string; readonly outputStats: BigIntStats },
  inputPaths: readonly string[],
  isOwn: OutputOptions["isOwn"],
): void {
  // Two names of one file, by a link or a file system that ignores case.
  const isInput = inputPaths.map(statFile).some((inputStats) => {
    return (
      inputStats !== undefined &&
      outputStats.dev === inputStats.dev &&
      outputStats.ino === inputStats.ino
    );
  });
  if (isInput && outputStats.isFile()) {
    throw new CliError(printable`${outputPath} is the input file; move the input.`);
  }
  if (outputStats.isDirectory()) {
    throw new CliError(printable`${outputPath} is not a file; move it.`);
  }
  if (!outputStats.isFile() || outputStats.size === 0n || isOwn === undefined) return;
  if (isOwn(readBeginning(outputPath))) return;
  const problem = printable`${outputPath} exists, and this command did not write it`;
  throw new CliError(`${problem}. Move it, or name another file.`);
}

function readBeginning(filePath: string): string {
  const beginning = Buffer.alloc(65_536);
  const descriptor = openSync(filePath, "r");
  try {
    return beginning.toString("utf8", 0, readSync(descriptor, beginning));
  } finally {
    closeSync(descriptor);
  }
}

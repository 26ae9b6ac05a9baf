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
    const output = statFile(outputPath);
    if (output !== undefined)
      checkReplaceable({ path: outputPath, stats: output }, inputPaths, isOwn);
    else if (inputPaths.some((path) => files.realpath(path) === files.realpath(outputPath)))
      throw new CliError(printable`${outputPath} is named for two files; name another one.`);
    if (output !== undefined && !output.isFile()) return;
    // A permission check is not enough on a read-only or full disk.
    files.probe(join(dirname(files.realpath(outputPath)), `.${newId()}.tmp`));
  } catch (error) {
    throw toFileError(error, `write ${outputPath}`);
  }
}

function statFile(path: string) {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function checkReplaceable(
  { path, stats }: { readonly path: string; readonly stats: BigIntStats },
  inputPaths: readonly string[],
  isOwn: OutputOptions["isOwn"],
): void {
  // Two names of one file, by a link or a file system that ignores case.
  const isInput = inputPaths.map(statFile).some((input) => {
    return input !== undefined && stats.dev === input.dev && stats.ino === input.ino;
  });
  if (isInput && stats.isFile()) {
    throw new CliError(printable`${path} is the input file itself; move the input.`);
  }
  if (stats.isDirectory()) {
    throw new CliError(printable`${path} is in the way and is not a file; move it.`);
  }
  if (!stats.isFile() || stats.size === 0n || isOwn === undefined) return;
  if (isOwn(readBeginning(path))) return;
  const problem = printable`${path} exists, and this command did not write it`;
  throw new CliError(`${problem}. Move it, or name another file. Nothing was written.`);
}

function readBeginning(path: string): string {
  const beginning = Buffer.alloc(65_536);
  const file = openSync(path, "r");
  try {
    return beginning.toString("utf8", 0, readSync(file, beginning));
  } finally {
    closeSync(file);
  }
}

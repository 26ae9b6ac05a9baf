import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type CliContext, printable, toFileError, writeWholeFile } from "evaluator-kit";

/** Creates the folder of --out, and returns its path. @throws CliError if it cannot be created. */
export async function makeFolder(out: string, { cwd }: CliContext): Promise<string> {
  const folder = resolve(cwd, out);
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw toError(error, folder);
  });
  return folder;
}

/** Writes files into the folder of --out, for their owner alone. @throws CliError if one cannot be written. */
export async function writeReport(
  out: string,
  files: readonly (readonly [name: string, content: string])[],
  context: CliContext,
): Promise<void> {
  const folder = await makeFolder(out, context);
  try {
    for (const [name, content] of files) {
      await writeWholeFile(join(folder, name), content, { mode: 0o600 });
    }
  } catch (error) {
    throw toError(error, folder);
  }
}

/** Returns a line with the names of the written files. */
export function describeWritten(out: string, names: readonly string[]): string {
  return `${printable`Wrote ${names.map((name) => join(out, name)).join(", ")}.`}\n`;
}

function toError(error: unknown, folder: string): unknown {
  return toFileError(error, `write into ${folder}`, "Choose another folder with --out.");
}

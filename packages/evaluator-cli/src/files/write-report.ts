import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type CliContext, printable, toFileError, writeWholeFile } from "evaluator-kit";

/** Makes the folder named by --out, and returns its path. @throws CliError where it cannot be made. */
export async function makeFolder(out: string, { cwd }: CliContext): Promise<string> {
  const folder = resolve(cwd, out);
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw toError(error, folder);
  });
  return folder;
}

/** Writes files into the folder named by --out, for their owner alone: a report may hold texts. @throws CliError where one cannot be written. */
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

/** Returns a line that names what was written. */
export function describeWritten(out: string, names: readonly string[]): string {
  return `${printable`Wrote ${names.map((name) => join(out, name)).join(", ")}.`}\n`;
}

function toError(error: unknown, folder: string): unknown {
  return toFileError(error, `write into ${folder}`, "Choose another folder with --out.");
}

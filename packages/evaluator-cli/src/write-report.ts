import { existsSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  checkOutput,
  type CliContext,
  printable,
  toFileError,
  writeWholeFile,
} from "evaluator-kit";
import { isPage } from "evaluator-kit/page";

/**
 * Checks before any work that the folder of --out has no page and no figures of anyone else.
 *
 * @param field - The field after the version in the command's `report.json`.
 * @throws CliError if a file would be lost or cannot be written.
 */
export async function checkReport(
  out: string,
  field: "files" | "labels",
  { cwd }: CliContext,
): Promise<void> {
  const folder = resolve(cwd, out);
  if (!existsSync(folder)) return;
  await checkOutput(join(folder, "report.html"), [], { isOwn: isPage });
  const figuresPattern = new RegExp(String.raw`^\{\s*"version": \d+,\s*"${field}": `);
  const isOwn = (beginning: string) => figuresPattern.test(beginning);
  await checkOutput(join(folder, "report.json"), [], { isOwn });
}

/** Creates the folder of --out, and returns its path. @throws CliError if it cannot be created. */
export async function makeFolder(out: string, { cwd }: CliContext): Promise<string> {
  const folder = resolve(cwd, out);
  const mkdirPromise = mkdir(folder, { recursive: true });
  // On a read-only disk only the plain call names the reason.
  await mkdirPromise.catch(() => mkdir(folder)).catch(rethrowAs(folder));
  return folder;
}

/** A report: its text, and the files for the folder of --out. */
interface Report {
  readonly out: string;
  readonly files: Readonly<Record<string, string | object>>;
  /** Files that are there already. @default none */
  readonly kept?: readonly string[];
  /** Null prints `report.json` without what only plots and lists of rows need. */
  readonly printed: string | null;
}

const drawnNames = new Set(["points", "riskCoverage", "worst"]);
const omitDrawn = (name: string, value: unknown) => (drawnNames.has(name) ? undefined : value);

/** Writes a report's files, for their owner alone, and prints its text and their names. */
export async function writeReport(
  { out, files, kept: keptNames = [], printed: printedText }: Report,
  context: CliContext,
) {
  const isNew = !existsSync(resolve(context.cwd, out));
  const folder = await makeFolder(out, context);
  try {
    // The last first: programs act on `calibration.json`, and a full disk must not leave an earlier one beside a new report.
    for (const [fileName, content] of Object.entries(files).toReversed()) {
      const fileText =
        typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
      await writeWholeFile(join(folder, fileName), fileText);
    }
  } catch (error) {
    if (isNew) await rmdir(folder).catch(() => undefined); // unless a file was written
    throw error;
  }
  context.stdout.write(printedText ?? `${JSON.stringify(files["report.json"], omitDrawn)}\n`);
  const writtenFiles = [...Object.keys(files), ...keptNames]
    .map((fileName) => join(out, fileName))
    .join(", ");
  context.stderr.write(printable`Wrote ${writtenFiles}.` + "\n");
}

function rethrowAs(folder: string) {
  return (error: unknown): never => {
    throw toFileError(error, `write into ${folder}`, "Choose another --out.");
  };
}

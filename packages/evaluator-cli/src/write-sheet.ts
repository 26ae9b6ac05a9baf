import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  checkOutput,
  CliError,
  type CliContext,
  parseJson,
  printable,
  writeWholeFile,
} from "evaluator-kit";
import { listFields } from "./read-files.ts";

interface Sheet {
  readonly rows: readonly object[];
  /** The files that the rows were drawn from. */
  readonly inputs: readonly string[];
}

/**
 * Writes records to label; if the file is the same sheet with labels, they are kept. Returns whether it was written.
 *
 * @throws CliError if the file is no sheet, or has the labels of another one.
 */
export async function writeSheet(
  out: string,
  { rows, inputs }: Sheet,
  { cwd, stderr }: CliContext,
): Promise<boolean> {
  const sheetPath = resolve(cwd, out);
  const inputPaths = inputs.map((inputName) => resolve(cwd, inputName));
  await checkOutput(sheetPath, inputPaths, { isOwn: isSheet });
  const formerRows = readSheet(sheetPath);
  if (formerRows.every(({ truth, labeler }) => truth === null && labeler === undefined)) {
    await writeWholeFile(sheetPath, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return true;
  }
  if (!isSameSheet(rows, formerRows)) {
    const problem = printable`${out} has labels of another sheet`;
    throw new CliError(`${problem}. Move it or name another --out.`);
  }
  stderr.write(printable`${out} is this sheet already; its labels are kept.` + "\n");
  return false;
}

function isSheet(beginning: string): boolean {
  return /^\{"id":.*"truth":/.test(beginning);
}

/** Returns the rows of a sheet; a line that is no JSON counts as a label. */
function readSheet(sheetPath: string): Readonly<Record<string, unknown>>[] {
  if (statSync(sheetPath, { throwIfNoEntry: false })?.isFile() !== true) return [];
  const sheetLines = readFileSync(sheetPath, "utf8").split("\n");
  return sheetLines.filter((line) => line.trim() !== "").map((line) => listFields(parseJson(line)));
}

function isSameSheet(rows: Sheet["rows"], formerRows: ReturnType<typeof readSheet>): boolean {
  const isFormer = (sheetRow: object, rowIndex: number) =>
    Object.entries(sheetRow).every(
      ([fieldName, value]) =>
        fieldName === "truth" || isDeepStrictEqual(formerRows[rowIndex]?.[fieldName], value),
    );
  return rows.length === formerRows.length && rows.every(isFormer);
}

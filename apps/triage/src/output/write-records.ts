import { toFileError } from "../file-error.ts";
import { formatRecords, type OutputFormat } from "./format-records.ts";
import type { TriageRecord } from "./triage-record.ts";
import { writeWholeFile } from "./write-whole-file.ts";

/**
 * Writes the results, all of them or none.
 *
 * @throws TriageError when they cannot be written; an older file is still there then.
 */
export async function writeRecords(
  path: string,
  records: readonly TriageRecord[],
  format: OutputFormat,
): Promise<void> {
  await writeWholeFile(path, formatRecords(records, format)).catch((error: unknown) => {
    throw toFileError(
      error,
      `write ${path}`,
      "Nothing was written, and every answer is kept; make room there and run again.",
    );
  });
}

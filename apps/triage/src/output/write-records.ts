import { toFileError } from "../file-error.ts";
import type { TriageRecord } from "./triage-record.ts";
import { writeWholeFile } from "./write-whole-file.ts";

/**
 * Writes the results as a JSON array, all of them or none.
 *
 * @throws TriageError when they cannot be written; an older file is still there then.
 */
export async function writeRecords(path: string, records: readonly TriageRecord[]): Promise<void> {
  await writeWholeFile(path, `${JSON.stringify(records, null, 2)}\n`).catch((error: unknown) => {
    throw toFileError(
      error,
      `write ${path}`,
      "Nothing was written; make room there and run again.",
    );
  });
}

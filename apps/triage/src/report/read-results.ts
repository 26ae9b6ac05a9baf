import { readFile } from "node:fs/promises";
import { z } from "zod";
import { TriageError } from "../errors.ts";
import { toFileError } from "../file-error.ts";
import type { TriageRecord } from "../output/triage-record.ts";

const text = z.string();
const recordSchema = z
  .object({ id: text, date: text, from: text, subject: text })
  .catchall(z.union([text, z.number(), z.null()]));

/**
 * Reads the results of a run.
 *
 * @throws TriageError when they are not there or are none.
 */
export async function readResultsFile(path: string): Promise<TriageRecord[]> {
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, "Run triage on the file first.");
  });
  try {
    return z.array(recordSchema).parse(JSON.parse(content));
  } catch {
    throw new TriageError(`${path} does not hold results; run triage on its file again.`);
  }
}

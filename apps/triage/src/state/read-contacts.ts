import { readFile } from "node:fs/promises";
import { toFileError } from "evaluator-cli-kit";
import { addressesIn } from "../input/sender-address.ts";

/**
 * Reads every address of a file, in lower case: one a line, a CSV or a vCard export.
 *
 * @throws TriageError when the file cannot be read.
 */
export async function readContacts(path: string): Promise<ReadonlySet<string>> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, "Check the path after --contacts.");
  });
  return new Set(addressesIn(text));
}

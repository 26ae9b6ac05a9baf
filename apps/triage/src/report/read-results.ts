import { readFile } from "node:fs/promises";
import { z } from "zod";
import { TriageError } from "../errors.ts";
import { toFileError } from "../file-error.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { plainMessage } from "../text/plain-message.ts";
import type { ResultsFile } from "./find-results.ts";

const text = z.string();
const recordSchema = z
  .object({ id: text, date: text, from: text, subject: text })
  .catchall(z.union([text, z.number(), z.null()]));

/**
 * Reads the results of a run.
 *
 * @throws TriageError when they cannot be read or are none.
 */
export async function readResults({ path, format }: ResultsFile): Promise<TriageRecord[]> {
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, "Run triage on the file again.");
  });
  try {
    return z.array(recordSchema).parse(format === "json" ? JSON.parse(content) : lines(content));
  } catch {
    throw new TriageError(
      plainMessage`${path} does not hold results; run triage on its file again.`,
    );
  }
}

function lines(content: string): unknown[] {
  return content
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

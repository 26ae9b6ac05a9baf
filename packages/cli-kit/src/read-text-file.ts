import { readFile } from "node:fs/promises";
import { toFileError } from "./system-error.ts";

/**
 * Reads a file of UTF-8 text.
 *
 * @param advice - What to do when it cannot be read.
 * @throws CliError that names the path, why it cannot be read, and what to do next.
 */
export async function readTextFile(path: string, advice: string): Promise<string> {
  return await readFile(path, "utf8").catch((error: unknown) => {
    throw toFileError(error, `read ${path}`, advice);
  });
}

/** Returns what a text says in JSON, which may begin with a byte order mark; null where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
}

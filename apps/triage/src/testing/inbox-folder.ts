import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { temporaryFolder } from "./temporary-folder.ts";

/** Makes a folder whose `inbox.json` holds the input, for the length of the test. */
export async function folderWith(input: unknown): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "inbox.json"), JSON.stringify(input));
  return folder;
}

/** Reads the results beside `inbox.json`. */
export async function readResults(folder: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(folder, "inbox.triage.json"), "utf8");
  return z.array(z.looseObject({})).parse(JSON.parse(text));
}

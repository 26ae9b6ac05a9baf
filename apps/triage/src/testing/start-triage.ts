import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createMachines,
  createStart,
  startPage,
  startProgram,
  type StartContext,
} from "evaluator-runs/testing";
import { z } from "zod";
import { mailSource } from "../mail-source.ts";
import { runTriage } from "../triage.ts";
import { sampleMail } from "./samples.ts";

export { folderWith, stoppedClock } from "evaluator-runs/testing";

/** Runs the command in this process, answered by a transport unless told otherwise. */
export const startTriage = createStart({ name: "The triage", source: mailSource, run: runTriage });

/** Starts a command that serves a page, see `startPage`. */
export const startTriagePage = (words: readonly string[], given: StartContext) =>
  startPage(startTriage, words, given);

/** Starts commands of several machines over one PostgreSQL in memory, which each test of a file finds empty. */
export const triageMachines = () => createMachines(startTriage, mailSource.journalVariable);

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** Starts the program in its own process. */
export const startTriageProgram = (
  words: readonly string[],
  options: Parameters<typeof startProgram>[2],
) => startProgram(main, words, options);

/** Returns mails with seven subjects. */
export function inbox(length: number) {
  return Array.from({ length }, (_, index) =>
    sampleMail({ id: `m-${index}`, subject: `About ${index % 7}` }),
  );
}

/** Reads the results beside `inbox.json`. */
export async function readResults(folder: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(folder, "inbox.triage.json"), "utf8");
  return z.array(z.looseObject({})).parse(JSON.parse(text));
}

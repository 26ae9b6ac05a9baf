import type { Questions } from "evaluator-client";
import { CliError, printable } from "evaluator-kit";
import { printCounted } from "../amounts.ts";
import type { RunBegin, RunFacts } from "../run-facts.ts";
import type { Service } from "../service.ts";

/** The questions of a run, and the service that answers them. */
type RunSetup = { readonly questions: Questions; readonly service: Service };

/** A run in a file. */
export interface FileRun {
  /** The row of its end; null if it is not complete. */
  readonly row: number | null;
  /** Null if no options were kept. */
  readonly begin: RunBegin | null;
  readonly setup: RunSetup;
  /** Null if it is not complete. */
  readonly facts: RunFacts | null;
  /** The number that its records were seen in; null if it is not complete, or an older version made it. */
  readonly seen: number | null;
}

/** What a file notes of its runs. */
interface RunNotes {
  newestRun(): (RunSetup & { readonly begin: RunBegin | null; readonly row: number }) | null;
  completeRuns(): readonly (Omit<FileRun, "setup" | "row"> & {
    readonly row: number;
    readonly setup: string | null;
  })[];
  setups(): ReadonlyMap<string, RunSetup>;
}

/** Returns the runs of a file, the oldest first: the complete ones, and one after them that was begun. */
export function listRuns(runNotes: RunNotes): FileRun[] {
  const newestRun = runNotes.newestRun();
  if (newestRun === null) return [];
  const completeRuns = runNotes.completeRuns();
  const setupsByHash = runNotes.setups();
  const isOpen = newestRun.row > (completeRuns.at(-1)?.row ?? -1);
  const runs = completeRuns.map(({ setup: hash, row, begin, facts, seen }, runIndex): FileRun => {
    // The options of the newest run name its setup.
    const isNewest = !isOpen && runIndex === completeRuns.length - 1;
    const setup = isNewest || hash === null ? newestRun : (setupsByHash.get(hash) ?? newestRun);
    return { row, begin, setup, facts, seen };
  });
  const openRun = { row: null, begin: newestRun.begin, facts: null, seen: null, setup: newestRun };
  return isOpen ? [...runs, openRun] : runs;
}

/** Returns a run of a file by its number. @throws CliError that names how many runs the file has */
export function needRun(fileRuns: readonly FileRun[], runNumber: number, path: string): FileRun {
  const fileRun = fileRuns[runNumber - 1];
  if (fileRun !== undefined) return fileRun;
  const has = printCounted(fileRuns.length, "run");
  throw new CliError(printable`There is no run ${String(runNumber)} in ${path}, which has ${has}.`);
}

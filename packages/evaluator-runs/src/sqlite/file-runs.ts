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
export function listRuns(notes: RunNotes): FileRun[] {
  const newest = notes.newestRun();
  if (newest === null) return [];
  const complete = notes.completeRuns();
  const setups = notes.setups();
  const isOpen = newest.row > (complete.at(-1)?.row ?? -1);
  const runs = complete.map(({ setup: hash, row, begin, facts, seen }, at): FileRun => {
    // The options of the newest run name its setup.
    const isNewest = !isOpen && at === complete.length - 1;
    const setup = isNewest || hash === null ? newest : (setups.get(hash) ?? newest);
    return { row, begin, setup, facts, seen };
  });
  const open = { row: null, begin: newest.begin, facts: null, seen: null, setup: newest };
  return isOpen ? [...runs, open] : runs;
}

/** Returns a run of a file by its number. @throws CliError that names how many runs the file has */
export function needRun(all: readonly FileRun[], run: number, path: string): FileRun {
  const fileRun = all[run - 1];
  if (fileRun !== undefined) return fileRun;
  const has = printCounted(all.length, "run");
  throw new CliError(printable`There is no run ${String(run)} in ${path}, which has ${has}.`);
}

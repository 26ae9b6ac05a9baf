import { basename } from "node:path";
import type { RunInfo } from "../postgres/index.ts";
import type { RunFacts } from "../journal/journal-schema.ts";
import type { RecordSource } from "../input/record-source.ts";
import { column, type ResultTable } from "./result-tables.ts";

/** A run, and what it came to. */
export type ListedRun = Omit<RunFacts, "finishedAt" | "elapsedMs"> & {
  readonly run: number;
  readonly name: string;
  readonly state: string;
  readonly finishedAt: string | null;
  readonly elapsedMs: number | null;
};

/** Returns the table of runs: those of a file that went through, all of a database. */
export function runsTableOf({ word }: Pick<RecordSource, "word">): ResultTable<ListedRun> {
  return {
    name: "runs",
    columns: [
      column("run", "number", { what: "its number", of: ({ run }) => run }),
      column("name", "text", { what: "the name of its input", of: ({ name }) => name }),
      column("state", "text", { what: "done, open, stopped or loading", of: ({ state }) => state }),
      column("finished_at", "text", { what: "in UTC", of: ({ finishedAt }) => finishedAt }),
      column("wire", "text", { what: "through what it asked", of: ({ wire }) => wire }),
      column("model", "text", { what: "the model it asked", of: ({ modelId }) => modelId }),
      column(`${word}s`, "number", { what: "how many it is about", of: ({ mails }) => mails }),
      column("answered", "number", { what: "how many it got", of: ({ answered }) => answered }),
      column("failed", "number", { what: "how many it did not get", of: ({ failed }) => failed }),
      column("input_tokens", "number", {
        what: "of its calls",
        of: ({ inputTokens }) => inputTokens,
      }),
      column("cost_usd", "number", { what: "of its calls", of: ({ costUsd }) => costUsd }),
      column("elapsed_ms", "number", {
        what: "how long it took",
        of: ({ elapsedMs }) => elapsedMs,
      }),
    ],
  };
}

/** Returns the runs of a journal file as those of the table. */
export function runsOfFile(facts: readonly RunFacts[], inputPath: string): ListedRun[] {
  const name = basename(inputPath);
  return facts.map((run, index) => ({ ...run, run: index + 1, name, state: "done" }));
}

/** Returns the runs of a database as those of the table. */
export function runsOfDatabase(runs: readonly RunInfo[]): ListedRun[] {
  return runs.map((info) => ({
    ...info,
    wire: info.setup.wire,
    modelId: info.setup.modelId,
    mails: info.records,
    answered: info.asked,
    finishedAt: info.finishedAt?.toISOString() ?? null,
    elapsedMs:
      info.finishedAt === null ? null : info.finishedAt.getTime() - info.createdAt.getTime(),
  }));
}

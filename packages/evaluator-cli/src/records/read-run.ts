import type { CliContext } from "evaluator-kit";
import type { AnsweredEntry, UnansweredEntry } from "evaluator-runs";
import { openCatalog, openRuns, openTransport } from "evaluator-runs/commands";
import { withResults } from "evaluator-runs/results";
import { tableSource } from "./table-source.ts";

/** Takes a record of a journal. */
export type TakeEntry = (entry: AnsweredEntry | UnansweredEntry) => void;

/** Reads the newest run of a database, record by record. */
export async function readRun(url: string, context: CliContext, take: TakeEntry): Promise<void> {
  const services = { openCatalog, openRuns, openTransport };
  const program = { ...services, source: tableSource, ...context };
  await withResults({ journal: url }, program, async ({ rows, questions, facts: [run] }) => {
    const service = { address: run?.wire ?? "", modelId: run?.modelId ?? "" };
    for await (const { input, kept: evaluation } of rows) {
      const { id, state } = input;
      if (evaluation === null) take({ id, evaluation });
      else take({ id, state, questions, service, evaluation });
    }
  });
}

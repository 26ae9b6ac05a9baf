import { CliError, pause } from "evaluator-kit";
import { EvaluatorError, type JsonObject, type Questions } from "evaluator-client";
import { type RecordSetup, toRecord } from "../columns/columns.ts";
import type { RunRecord } from "../input/record-source.ts";
import { fromKeptText } from "../journal/kept-answer.ts";
import type { RunRow } from "../store/run-query.ts";
import type { RunInfo, RunStore } from "../store/run-store.ts";
import type { OpenRuns, ProgramContext, Service } from "../service.ts";

/**
 * Opens the runs of a database, and closes them after use.
 *
 * @throws CliError that describes the problem with the database, without its URL.
 */
export async function withRuns<TResult>(
  url: string,
  program: Pick<ProgramContext, "openRuns" | "clock"> & Partial<Parameters<OpenRuns>[1]>,
  use: (runs: RunStore) => Promise<TResult>,
): Promise<TResult> {
  const { supervises = false, clock } = program;
  try {
    await using runs = await program.openRuns(url, { supervises, clock });
    return await use(runs);
  } catch (error) {
    throw toCliError(error);
  }
}

const AWAY_MS = 1000; // chosen, not measured: a database that is back is used within a second

/** Makes a call until the database can be reached. @throws any other error, and that of the last call after an interruption */
export async function untilReached<TResult>(
  call: () => Promise<TResult>,
  { clock, signal }: Pick<ProgramContext, "clock" | "signal">,
): Promise<TResult> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isAway = error instanceof EvaluatorError && error.isRetryable;
      if (!isAway || signal.aborted) throw error;
      await pause(AWAY_MS, { clock, signal });
    }
  }
}

function toCliError(error: unknown): unknown {
  // By its name: the class is in the library, which a journal in a file does not load.
  if (!(error instanceof Error) || error.name !== "DatabaseError") return error;
  const { failure } = error as Error & { failure?: string };
  const message =
    failure === "no-run"
      ? `${error.message} The command "status" lists all runs.`
      : `The journal in PostgreSQL cannot be used: ${error.message}\nEvery answer that was kept is still there.`;
  return new CliError(message, { cause: error });
}

/** Returns the service that a run asks. */
export function serviceOfRun({ setup }: RunInfo): Service {
  return { address: setup.wire, modelId: setup.modelId };
}

/** Returns a row of a run as its record, and the kept answer. */
export function toAnsweredRow(
  row: RunRow,
  { questions, ...setup }: RecordSetup & { readonly questions: Questions },
) {
  const { idx: index, id, state, note, evaluation, error } = row;
  const kept = evaluation === null ? null : fromKeptText(evaluation, questions);
  const source = note === null ? null : (JSON.parse(note) as JsonObject);
  const input: RunRecord = { id, state: JSON.parse(state) as JsonObject, source };
  const record = toRecord(input, { evaluation: kept, error }, setup);
  // The call did not fail, and its answer is missing or was changed.
  const isLost = evaluation === null && error === null;
  return { index, input, record, kept, keptState: input.state, isLost };
}

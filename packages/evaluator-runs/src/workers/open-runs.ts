import { CliError, pause } from "evaluator-kit";
import { EvaluatorError, type JsonObject, type Questions } from "evaluator-client";
import { type RecordSetup, type ResultRow, toRecord } from "../columns/columns.ts";
import type { RunRecord } from "../input/record-source.ts";
import { fromKeptText, type KeptEvaluation } from "../journal/kept-answer.ts";
import type { RunRow } from "../store/run-query.ts";
import type { RunStore } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
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
      ? `${error.message} "status" lists all runs.`
      : `The journal in PostgreSQL cannot be used: ${error.message}\nEvery kept answer is still there.`;
  return new CliError(message, { cause: error });
}

/** Returns the service that a run asks. */
export function serviceOfRun({ setup }: Pick<RunInfo, "setup">): Service {
  return { address: setup.wire, modelId: setup.modelId };
}

/** Returns a row of a run as its record, and the kept answer. */
export function toAnsweredRow(
  row: RunRow,
  { questions, ...setup }: RecordSetup & { readonly questions: Questions },
) {
  const { idx: index, evaluation: text, error, isRefused = false, isChecked = false } = row;
  const input = row.input ?? toInput(row);
  const evaluation =
    text !== null && isChecked ? (JSON.parse(text) as KeptEvaluation) : keptIn(text, questions);
  let record: ResultRow["record"] | null = null;
  return {
    index,
    input,
    kept: evaluation,
    isRefused,
    /** Whether the call did not fail, and its answer is missing or was changed. */
    isLost: text === null && error === null,
    get keptState(): unknown {
      return row.input === undefined ? input.state : JSON.parse(row.state);
    },
    get record() {
      return (record ??= toRecord(input, { evaluation, error }, setup));
    },
  };
}

/** Returns the kept answer in a text; null without one that answers the questions. */
export function keptIn(text: string | null, questions: Questions): KeptEvaluation | null {
  return text === null ? null : fromKeptText(text, questions);
}

function toInput({ id, state, note }: RunRow): RunRecord {
  const source = note === null ? null : (JSON.parse(note) as JsonObject);
  return { id, state: JSON.parse(state) as JsonObject, source };
}

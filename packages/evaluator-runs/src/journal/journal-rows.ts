import type { SQLOutputValue } from "node:sqlite";
import type { JsonValue } from "evaluator-client";
import type { RunRow } from "../store/run-query.ts";
import {
  type CallSetup,
  fromKeptText,
  isAsWritten,
  isKeyOf,
  type KeptEvaluation,
  setupHash,
} from "./kept-answer.ts";
import { parseKeptQuestions } from "./kept-questions.ts";

/** Everything that a journal keeps about one record. */
interface JournalEntry extends CallSetup {
  readonly id: string;
  readonly state: JsonValue;
  /** Null if the answer was changed after it was written. */
  readonly evaluation: KeptEvaluation | null;
}

/** An answer that is unchanged since it was written. */
export type AnsweredEntry = JournalEntry & { readonly evaluation: KeptEvaluation };

/** A record of which only the id is known: its call failed, or has not ended. */
export interface UnansweredEntry {
  readonly id: string;
  readonly evaluation: null;
}

/** A row of the journal's tables. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** Returns a record as readers see it; `isChecked`: its setup is known to be that of the run. */
export function toRunRow(row: Row, isChecked = false): RunRow {
  const { id, key, error, source, evaluation: text = null } = row;
  const evaluation = text !== null && isAsWritten(row) ? String(text) : null;
  return {
    idx: 0,
    id: String(id),
    key: String(key),
    state: evaluation === null ? "null" : String(row["state"]),
    note: source === null ? null : String(source),
    evaluation,
    isChanged: text !== null && evaluation === null,
    isOwn: false,
    error: evaluation === null && typeof error === "string" ? error : null,
    isRefused: evaluation === null && row["refused"] != null,
    isChecked,
  };
}

/** Returns the questions of a setup, and the service. */
export function toSetup({ questions = null, wire, model }: Row): CallSetup {
  const service = { address: String(wire), modelId: String(model) };
  return { questions: parseKeptQuestions(String(questions)), service };
}

/** Returns a record with its answer, the digest and key of which are checked. */
export function toEntry(id: string, row: Row): JournalEntry {
  const [key, state] = [String(row["key"]), String(row["state"])];
  const setup = toSetup(row);
  const isWhole = isAsWritten(row) && isKeyOf(key, setupHash(setup), state);
  const evaluation = isWhole ? fromKeptText(String(row["evaluation"]), setup.questions) : null;
  return { ...setup, id, state: parsed(state), evaluation };
}

/** Returns the value of a column of JSON. */
export function parsed<TValue = JsonValue>(text: SQLOutputValue | undefined): TValue {
  return JSON.parse(String(text)) as TValue;
}

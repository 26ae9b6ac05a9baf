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
} from "../journal/kept-answer.ts";
import { parseKeptQuestions } from "../journal/kept-questions.ts";

/** A record and its answer. */
export interface AnsweredEntry extends CallSetup {
  readonly id: string;
  readonly state: JsonValue;
  readonly evaluation: KeptEvaluation;
}

/** A record of which only the id is known: its call failed, or has not ended. */
export interface UnansweredEntry {
  readonly id: string;
  readonly evaluation: null;
}

/** A row of the journal's tables. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** Returns a record as readers see it; `isChecked`: its setup is known to be that of the run. */
export function toRunRow(recordRow: Row, isChecked = false): RunRow {
  const { id, key, error, source, evaluation: text = null } = recordRow;
  const evaluation = text !== null && isAsWritten(recordRow) ? String(text) : null;
  return {
    idx: 0,
    id: String(id),
    key: String(key),
    state: evaluation === null ? "null" : String(recordRow["state"]),
    note: source === null ? null : String(source),
    evaluation,
    isChanged: text !== null && evaluation === null,
    isOwn: false,
    error: evaluation === null && typeof error === "string" ? error : null,
    isRefused: evaluation === null && recordRow["refused"] != null,
    isChecked,
  };
}

/** Returns the questions of a setup, and the service. */
export function toSetup({ questions = null, wire, model }: Row): CallSetup {
  const service = { address: String(wire), modelId: String(model) };
  return { questions: parseKeptQuestions(String(questions)), service };
}

/** Returns an answer whose digest, key and questions fit; null if it was changed after it was written. */
export function toWhole(answerRow: Row, callSetup: CallSetup): KeptEvaluation | null {
  const [key, state] = [String(answerRow["key"]), String(answerRow["state"])];
  const isWhole = isAsWritten(answerRow) && isKeyOf(key, setupHash(callSetup), state);
  return isWhole ? fromKeptText(String(answerRow["evaluation"]), callSetup.questions) : null;
}

/** Returns the value of a column of JSON. */
export function parsed<TValue = JsonValue>(jsonText: SQLOutputValue | undefined): TValue {
  return JSON.parse(String(jsonText)) as TValue;
}

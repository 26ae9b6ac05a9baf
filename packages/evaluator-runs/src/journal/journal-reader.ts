import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { CliError, printable } from "evaluator-kit";
import type { JsonObject, JsonValue, Questions } from "evaluator-client";
import {
  type CallSetup,
  fromKeptText,
  isAsWritten,
  isKeyOf,
  type KeptEvaluation,
  readKeptText,
  setupHash,
} from "./kept-answer.ts";
import { readStatements, runBeginSchema, type RunFacts, runFactsSchema } from "./journal-schema.ts";
import { toJournalError } from "./open-journal.ts";

/** Everything that a journal keeps about one record. */
export interface JournalEntry extends CallSetup {
  readonly id: string;
  readonly state: JsonValue;
  /** Null if the answer was changed after it was written. */
  readonly evaluation: KeptEvaluation | null;
}

/** How the newest call about a record ended. */
export interface RecordEnd {
  /** The state that the model read; null without an answer. */
  readonly state: JsonValue;
  readonly evaluation: KeptEvaluation | null;
  readonly error: string | null;
  /** Whether the service refused the record as too long, so that it is not asked again. */
  readonly isRefused: boolean;
}

/** The records that no run before the last time had. */
export interface NewRecords {
  readonly ids: ReadonlySet<string>;
  /** When the run before them was complete, in ISO 8601. */
  readonly since: string;
}

/** The newest run of a journal. */
export type BegunRun = NonNullable<ReturnType<JournalReader["newestRun"]>>;

/** The status of a planned call; answered and refused calls are not made again. */
export type CallStatus = "answered" | "refused" | "begun" | "changed" | "unknown";

/** An answer that is unchanged since it was written. */
export type AnsweredEntry = JournalEntry & { readonly evaluation: KeptEvaluation };

/** A record of which only the id is known: its call failed, or has not ended. */
export interface UnansweredEntry {
  readonly id: string;
  readonly evaluation: null;
}

/** Reads a journal, also while a run writes; its methods throw a CliError if the file is damaged. */
export class JournalReader {
  protected readonly path: string;
  protected readonly database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** @param database - The journal at the path; the caller closes it. */
  constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.database = database;
  }

  /** Returns the status of each call by its key. */
  statusesOf(keys: readonly string[]): CallStatus[] {
    return keys.map((key) => {
      const [row] = this.#all(readStatements.byKey, key);
      if (row !== undefined) return isAsWritten(row) ? "answered" : "changed";
      const [open] = this.#all(readStatements.openByKey, key);
      if (open?.["refused"] != null) return "refused";
      return open?.["begun"] == null ? "unknown" : "begun";
    });
  }

  /** Returns a kept answer to the questions; null if it is missing or was changed. */
  answer(key: string, questions: Questions): KeptEvaluation | null {
    const [row] = this.#all(readStatements.byKey, key);
    if (row === undefined || !isAsWritten(row)) return null;
    return fromKeptText(String(row["evaluation"]), questions);
  }

  /** Returns how the newest call about a record ended. */
  endOf(id: string, questions: Questions): RecordEnd {
    const [row = {}] = this.#all(readStatements.end, id);
    return toEnd(row, questions);
  }

  /** Returns one by one the records of the newest run, in no order, and how their newest calls ended. */
  *results({ questions, service }: CallSetup) {
    const setup = setupHash({ questions, service });
    for (const row of this.#iterate(readStatements.results)) {
      const { id, source, hash } = row;
      const note = source === null ? null : (JSON.parse(String(source)) as JsonObject);
      yield { ...toEnd(row, questions, hash === setup), id: String(id), note };
    }
  }

  /** Returns the records that are new since the last complete run; null if there are none. */
  newRecords(): NewRecords | null {
    const [row] = this.#all(readStatements.newSince);
    const ids = new Set<string>();
    for (const { id } of this.#iterate(readStatements.newIds)) ids.add(String(id));
    return row === undefined || ids.size === 0 ? null : { ids, since: String(row["since"]) };
  }

  /** Returns the run that was begun last, complete or not; its `begin` is null if no options were kept. */
  newestRun() {
    const begin = this.#newestBegin();
    const [row] =
      begin === null
        ? this.#all(readStatements.newestSetup)
        : this.#all(readStatements.setup, begin.setup);
    return row === undefined ? null : { ...toSetup(row), begin };
  }

  #newestBegin() {
    for (const { facts } of this.#iterate(readStatements.newestRuns)) {
      const begin = runBeginSchema.safeParse(JSON.parse(String(facts)));
      if (begin.success) return begin.data;
    }
    return null;
  }

  /** Counts the records of the journal, and sums the cost of its answers; null if no answer has a cost. */
  progress() {
    const [row = {}] = this.#all(readStatements.progress);
    const { records, answered, failed, refused, begun, costUsd } = row;
    return {
      records: Number(records),
      answered: Number(answered),
      failed: Number(failed),
      refused: Number(refused),
      begun: Number(begun),
      costUsd: costUsd == null ? null : Number(costUsd),
    };
  }

  /** Returns the entry of a record. @throws CliError if it has no answer. */
  find(id: string, word = "record"): JournalEntry {
    const [record] = this.#all(readStatements.record, id);
    if (record === undefined) {
      throw new CliError(printable`${this.path} knows no ${word} with this id.`);
    }
    const [answer] = this.#all(readStatements.answer, String(record["key"]));
    if (answer !== undefined) return toEntry(id, answer);
    const why = typeof record["error"] === "string" ? record["error"] : "None has come yet.";
    throw new CliError(printable`There is no answer about this ${word}. ${why}`);
  }

  /** Returns one by one the newest answer of each record that has one. */
  *answered(): Generator<AnsweredEntry> {
    for (const row of this.#iterate(readStatements.answered)) {
      const { evaluation, ...entry } = toEntry(String(row["id"]), row);
      if (evaluation !== null) yield { ...entry, evaluation };
    }
  }

  /** Returns all records, each with its newest answer, without a check of the digests. */
  *records(): Generator<AnsweredEntry | UnansweredEntry> {
    const setups = new Map<unknown, CallSetup>();
    for (const row of this.#iterate(readStatements.records)) {
      const { state, evaluation } = row;
      const id = String(row["id"]);
      if (evaluation === null) {
        yield { id, evaluation };
        continue;
      }
      const setup = setups.get(row["setup"]) ?? toSetup(row);
      setups.set(row["setup"], setup);
      const read = JSON.parse(String(state)) as JsonValue;
      yield { ...setup, id, state: read, evaluation: readKeptText(String(evaluation)) };
    }
  }

  /** Returns the facts of all complete runs, the oldest first. */
  runs(): RunFacts[] {
    const rows = this.#all(readStatements.runs).map(
      ({ facts }) => JSON.parse(String(facts)) as unknown,
    );
    return rows.flatMap((facts) => runFactsSchema.safeParse(facts).data ?? []);
  }

  #all(sql: string, ...values: string[]): Record<string, unknown>[] {
    try {
      return this.#prepare(sql).all(...values);
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  *#iterate(sql: string): Generator<Record<string, SQLOutputValue>> {
    try {
      yield* this.#prepare(sql).iterate();
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

// The answers of the run's own setup were checked before they were kept.
function toEnd(row: Record<string, unknown>, questions: Questions, isChecked = false): RecordEnd {
  const { state, evaluation: text } = row;
  if (typeof text === "string" && isAsWritten(row)) {
    const evaluation = isChecked ? readKeptText(text) : fromKeptText(text, questions);
    const read = JSON.parse(String(state)) as JsonValue;
    return { state: read, evaluation, error: null, isRefused: false };
  }
  const error = typeof row["error"] === "string" ? row["error"] : null;
  return { state: null, evaluation: null, error, isRefused: row["refused"] != null };
}

function toSetup({ questions, wire, model }: Record<string, unknown>): CallSetup {
  const service = { address: String(wire), modelId: String(model) };
  return { questions: JSON.parse(String(questions)) as Questions, service };
}

function toEntry(id: string, row: Record<string, unknown>): JournalEntry {
  const [key, state] = [String(row["key"]), String(row["state"])];
  const setup = toSetup(row);
  const isWhole = isAsWritten(row) && isKeyOf(key, setupHash(setup), state);
  const evaluation = isWhole ? fromKeptText(String(row["evaluation"]), setup.questions) : null;
  return { ...setup, id, state: JSON.parse(state) as JsonValue, evaluation };
}

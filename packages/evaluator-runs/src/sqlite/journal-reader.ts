import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { JsonObject, Questions } from "evaluator-client";
import { CliError, printable } from "evaluator-kit";
import {
  type CallSetup,
  fromKeptText,
  isAsWritten,
  type KeptEvaluation,
} from "../journal/kept-answer.ts";
import {
  type AnsweredEntry,
  parsed,
  type Row,
  toRunRow,
  toSetup,
  toWhole,
  type UnansweredEntry,
} from "./journal-rows.ts";
import { type FileRun, listRuns, needRun } from "./file-runs.ts";
import { isRunUnderWay, toJournalError } from "./open-journal.ts";
import { answersTo } from "./journal-tables.ts";
import type { RunRow } from "../store/run-query.ts";
import type { CallStatus } from "../store/run-store.ts";
import type { NewRecords, Progress } from "../store/stored-runs.ts";
import { type RunBegin, runBeginSchema, runFactsSchema } from "../run-facts.ts";

/** Reads a journal, also while a run writes; its methods throw a CliError if the file is damaged. */
export class JournalReader implements Disposable {
  readonly path: string;
  protected readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** The table of the records, or a view of those of a run. */
  readonly #records: string;

  constructor(path: string, database: DatabaseSync, records = "records") {
    this.path = path;
    this.database = database;
    this.#records = records;
  }

  /** Returns a reader of the records as one of the runs has them. @throws CliError if they are not known */
  ofRun(run: number, all: readonly FileRun[] = listRuns(this)): JournalReader {
    const { seen } = needRun(all, run, this.path);
    if (seen === null && run !== all.length) {
      const problem = printable`${this.path} has no records of run ${String(run)} of an older version`;
      throw new CliError(`${problem}; name a later run with --run.`);
    }
    const view = `records_${run}`;
    const columns = `SELECT id, call, error, ${seen ?? "seen"} AS seen, after, source FROM`;
    const isSeen = `WHERE since <= ${seen} AND seen >= ${seen}`;
    const select =
      seen === null
        ? `${columns} records WHERE seen = (SELECT max(seen) FROM records)`
        : `${columns} records ${isSeen} UNION ALL ${columns} earlier ${isSeen}`;
    this.database.exec(`CREATE TEMP VIEW IF NOT EXISTS ${view} AS ${select}`);
    return new JournalReader(this.path, this.database, view);
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.database.close();
  }

  /** Returns the status of each call by its key. */
  statusesOf(keys: readonly string[]): CallStatus[] {
    return keys.map((key) => {
      const [row = {}] = this.#all(
        `SELECT key, state, evaluation, digest, begun.call AS begun, refusals.call AS refused
          FROM calls LEFT JOIN answers USING (call) LEFT JOIN begun USING (call)
          LEFT JOIN refusals USING (call) WHERE key = ?`,
        key,
      );
      if (row["evaluation"] != null) return isAsWritten(row) ? "answered" : "changed";
      if (row["refused"] != null) return "refused";
      return row["begun"] == null ? "unknown" : "begun";
    });
  }

  /** Returns how the newest call about a record ended. */
  endOf(id: string, questions: Questions) {
    const { evaluation = null, error = null } = this.row(id) ?? {};
    return { evaluation: evaluation === null ? null : fromKeptText(evaluation, questions), error };
  }

  /** Returns a record as the run has it that saw it last, with the number of that run; null without it. */
  row(id: string): (RunRow & { seen: number }) | null {
    const [row] = this.#all(
      `SELECT id, records.error, source, seen, key, state, evaluation, digest, refusals.call AS refused
        FROM ${this.#records} AS records JOIN calls USING (call) LEFT JOIN ${answersTo("records")}
        LEFT JOIN refusals USING (call) WHERE id = ?`,
      id,
    );
    return row === undefined ? null : Object.assign(toRunRow(row), { seen: Number(row["seen"]) });
  }

  /** Returns the state and the setup of a record's answer, also if it was changed; null without one. */
  askedCall(id: string): { readonly state: string; readonly setup: CallSetup } | null {
    const [row] = this.#all(
      `SELECT state, wire, model, questions FROM ${this.#records} AS records
        JOIN ${answersTo("records")} JOIN setups USING (setup) WHERE id = ?`,
      id,
    );
    return row === undefined ? null : { state: String(row["state"]), setup: toSetup(row) };
  }

  /**
   * Returns one by one the records of the newest run, in no order; the state is "null" without an answer.
   *
   * @param setup - The hash of the run's setup, whose answers were checked before they were kept.
   */
  *rows(setup: string): Generator<RunRow> {
    // In the order of the answers in the file: in order of id, a million records are random reads.
    const rows = this.#iterate(
      `WITH seen AS MATERIALIZED (SELECT call, id, error, source FROM ${this.#records}
        WHERE seen = (SELECT max(seen) FROM ${this.#records}) ORDER BY call)
        SELECT id, seen.error, source, key, state, evaluation, digest, hash,
          refusals.call AS refused
        FROM seen JOIN calls USING (call) LEFT JOIN ${answersTo("seen")}
        LEFT JOIN setups USING (setup) LEFT JOIN refusals USING (call)`,
    );
    for (const row of rows) yield toRunRow(row, row["hash"] === setup);
  }

  /** Returns the records that are new since the last complete run; null if there are none. */
  newRecords(): NewRecords | null {
    // Also of records that the run does not have: what was new before them is new no more. A part of a run has
    // the number of the run before it.
    const until = `SELECT max(max(seen) - 1, coalesce(max(after), 0)) FROM ${this.#records}`;
    const last = `SELECT max(after) FROM records WHERE after <= (${until})`;
    const [row] = this.#all(
      `SELECT facts ->> 'finishedAt' AS since FROM runs WHERE run = (${last})`,
    );
    const ids = new Set<string>();
    const newIds = this.#iterate(
      `SELECT id FROM ${this.#records} WHERE after = (${last})
        AND seen = (SELECT max(seen) FROM ${this.#records})`,
    );
    for (const { id } of newIds) ids.add(String(id));
    return row === undefined || ids.size === 0 ? null : { ids, since: String(row["since"]) };
  }

  /** Returns the records that a person put away, each with the day of its return. */
  putAway(): ReadonlyMap<string, string> {
    const rows = this.#all("SELECT id, until FROM choices");
    return new Map(rows.map(({ id, until }) => [String(id), String(until)]));
  }

  /** Returns the run that was begun last, complete or not, and its row; its `begin` is null if no options were kept. */
  newestRun() {
    let begin: RunBegin | null = null;
    let row = 0;
    for (const { run, facts } of this.#iterate("SELECT run, facts FROM runs ORDER BY run DESC")) {
      begin = runBeginSchema.safeParse(parsed(facts)).data ?? null;
      row = Number(run);
      if (begin !== null) break;
    }
    const setups = "SELECT wire, model, questions FROM setups";
    const [setup] =
      begin === null
        ? this.#all(`${setups} ORDER BY setup DESC LIMIT 1`)
        : this.#all(`${setups} WHERE hash = ?`, begin.setup);
    return setup === undefined ? null : { ...toSetup(setup), begin, row: begin === null ? 0 : row };
  }

  /** Counts the records, and how many of them have an answer or failed. */
  counts(): Pick<Progress, "records" | "answered" | "failed"> {
    const [row] = this.#all(
      `SELECT (SELECT count(*) FROM ${this.#records}) AS records,
        (SELECT count(*) FROM ${this.#records} WHERE error IS NOT NULL) AS failed,
        (SELECT count(*) FROM ${this.#records} AS records JOIN ${answersTo("records")}) AS answered`,
    );
    return row as unknown as ReturnType<JournalReader["counts"]>;
  }

  /** Counts the records of the journal, and sums the cost of its answers, of which it reads each. */
  progress(): Progress {
    // First, or the counts could be those before the end of a run that has ended.
    const isUnderWay = isRunUnderWay(this.path);
    const [row] = this.#all(
      `SELECT (SELECT count(*) FROM begun) AS begun,
        (SELECT count(*) FROM ${this.#records} JOIN refusals USING (call)) AS refused,
        (SELECT sum(evaluation ->> 'costUsd') FROM answers) AS costUsd`,
    );
    const others = row as unknown as Pick<Progress, "begun" | "refused" | "costUsd">;
    return { ...this.counts(), ...others, isUnderWay };
  }

  /** Returns the cost in US dollars of all tries after a row of `runs`, with any setup. */
  spentUsdSince(row: number): number {
    return this.number("SELECT total(facts ->> 'spentUsd') AS number FROM runs WHERE run > ?", row);
  }

  /** Returns the newest answer of each record that has one. */
  *answered(): Generator<AnsweredEntry> {
    for (const entry of this.records(true)) if (entry.evaluation !== null) yield entry;
  }

  /** Returns all records, each with its newest answer; if that is checked, a changed one is none. */
  *records(isChecked: boolean): Generator<AnsweredEntry | UnansweredEntry> {
    const setups = new Map<unknown, CallSetup>();
    const rows = this.#iterate(
      `SELECT id, key, state, evaluation, digest, setup, wire, model, questions
        FROM ${this.#records} AS records LEFT JOIN calls USING (call)
        LEFT JOIN ${answersTo("records")} LEFT JOIN setups USING (setup)`,
    );
    for (const row of rows) {
      const id = String(row["id"]);
      const { state, evaluation: text } = row;
      if (text === null) {
        yield { id, evaluation: text };
        continue;
      }
      const setup = setups.get(row["setup"]) ?? toSetup(row);
      setups.set(row["setup"], setup);
      const evaluation = isChecked ? toWhole(row, setup) : parsed<KeptEvaluation>(text);
      yield evaluation === null
        ? { id, evaluation }
        : { ...setup, id, state: parsed(state), evaluation };
    }
  }

  /** Returns the complete runs, the oldest first: their numbers in the file, and the hashes of their setups. */
  completeRuns() {
    let begin: RunBegin | null = null;
    return this.#all("SELECT run, facts FROM runs ORDER BY run").flatMap((row) => {
      const all = parsed<JsonObject>(row["facts"]);
      begin = runBeginSchema.safeParse(all).data ?? begin;
      const { data: facts } = runFactsSchema.safeParse(all);
      // Older versions did not note the setup, nor which records were seen.
      const setup = typeof all["spentFor"] === "string" ? all["spentFor"] : null;
      const seen = typeof all["seen"] === "number" ? all["seen"] : null;
      return facts === undefined ? [] : [{ row: Number(row["run"]), begin, setup, facts, seen }];
    });
  }

  /** Returns the setups of all runs by their hashes. */
  setups(): ReadonlyMap<string, CallSetup> {
    const rows = this.#all("SELECT hash, wire, model, questions FROM setups");
    return new Map(rows.map((row) => [String(row["hash"]), toSetup(row)]));
  }

  /** Returns the `number` of the one row of a query. */
  protected number(sql: string, ...values: (string | number)[]): number {
    return Number(this.#all(sql, ...values)[0]?.["number"]);
  }

  #all(sql: string, ...values: (string | number)[]): Row[] {
    try {
      return this.prepare(sql).all(...values);
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  *#iterate(sql: string): Generator<Row> {
    try {
      yield* this.prepare(sql).iterate();
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  /** Prepares a statement at its first use, since most run for every call. */
  protected prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

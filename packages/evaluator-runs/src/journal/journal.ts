import type { StatementSync } from "node:sqlite";
import type { Evaluation, JsonValue } from "evaluator-client";
import { JournalReader } from "./journal-reader.ts";
import type { RunBegin, RunFacts } from "./journal-schema.ts";
import { type CallSetup, digestOf, setupHash, toKeptText } from "./kept-answer.ts";
import { openForWriting, toJournalError } from "./open-journal.ts";

/** A record of a run's input, and the key of its answer. */
export interface NotedRecord {
  readonly id: string;
  readonly key: string;
  /** The source of the record as JSON (`toNote`). */
  readonly note?: string | null;
}

/** How the call about a record ended: with an answer about its state, or with an error. */
export type CallEnd = Pick<NotedRecord, "id" | "key"> &
  (
    | { readonly state: JsonValue; readonly evaluation: Evaluation }
    | { readonly error: string; readonly isRefusal?: boolean }
  );

interface WaitingEnd extends PromiseWithResolvers<void> {
  readonly end: CallEnd;
  readonly nextKey: string | null;
}

const statements = {
  startStep: "BEGIN IMMEDIATE",
  commitStep: "COMMIT",
  addSetup: "INSERT OR IGNORE INTO setups (hash, wire, model, questions) VALUES (?, ?, ?, ?)",
  addCall: "INSERT OR IGNORE INTO calls (key) VALUES (?)",
  // The run that notes a record will be the next row of `runs`.
  noteRecord:
    "INSERT INTO mails (id, call, error, seen, after, source) SELECT ?, call, error, ?, ?, ? " +
    "FROM calls LEFT JOIN refusals USING (call) WHERE key = ? ON CONFLICT (id) DO UPDATE SET " +
    "call = excluded.call, error = excluded.error, seen = excluded.seen, source = excluded.source",
  nextRun: "SELECT coalesce(max(run), 0) + 1 AS run FROM runs",
  lastWhole: "SELECT max(run) AS run FROM runs WHERE facts ->> 'finishedAt' IS NOT NULL",
  begin: "INSERT OR IGNORE INTO begun SELECT call FROM calls WHERE key = ?",
  forgetBegun: "DELETE FROM begun WHERE call = (SELECT call FROM calls WHERE key = ?)",
  keepAnswer:
    "INSERT OR REPLACE INTO answers " +
    "SELECT call, (SELECT setup FROM setups WHERE hash = ?), ?, ?, ? FROM calls WHERE key = ?",
  noteError: "UPDATE mails SET error = ? WHERE id = ?",
  refuse: "INSERT OR REPLACE INTO refusals SELECT call, ? FROM calls WHERE key = ?",
  addRun: "INSERT INTO runs (facts) VALUES (?)",
};

/**
 * Keeps every answer on the disk before anything else happens with it, for one run at a time. All
 * methods throw a CliError when the disk or the file fails.
 *
 * This thread waits for the disk. A separate thread made 4 and 10 % more calls at 20 ms with 8 and 64
 * in flight, and 3 % fewer with one; on a disk that takes 5 ms to sync, a third and more than a half
 * fewer (2026-11-21, two cores, medians of five and three rounds).
 */
export class Journal extends JournalReader {
  /** The questions of this run, and the service it asks. */
  readonly setup: CallSetup;
  readonly #setupHash: string;
  readonly #statements: Readonly<Record<keyof typeof statements, StatementSync>>;
  readonly #unlock: () => void;
  #waiting: WaitingEnd[] = [];

  private constructor(
    path: string,
    setup: CallSetup,
    { database, unlock }: ReturnType<typeof openForWriting>,
  ) {
    super(path, database);
    this.setup = setup;
    this.#setupHash = setupHash(setup);
    this.#unlock = unlock;
    // Prepared once, since they run for every call.
    const prepared = Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]);
    this.#statements = Object.fromEntries(prepared) as Record<
      keyof typeof statements,
      StatementSync
    >;
  }

  /** Opens a journal for a run with this setup, and creates the file if it is missing. */
  static open(path: string, setup: CallSetup): Journal {
    const opened = openForWriting(path);
    try {
      return new Journal(path, setup, opened);
    } catch (error) {
      opened.database.close();
      opened.unlock();
      throw toJournalError(error, path);
    }
  }

  /** Notes in one step the records of the input and the keys of their answers. */
  noteRecords(entries: Iterable<NotedRecord>): void {
    const { addCall, noteRecord, nextRun, lastWhole } = this.#statements;
    this.#change(() => {
      const seen = Number(nextRun.get()?.["run"]);
      const after = (lastWhole.get()?.["run"] ?? null) as number | null;
      this.#addSetup();
      for (const { id, key, note = null } of entries) {
        addCall.run(key);
        noteRecord.run(id, seen, after, note, key);
      }
    });
  }

  /** Notes the calls that begin. */
  begin(keys: readonly string[]): void {
    this.#change(() => {
      for (const key of keys) this.#statements.begin.run(key);
    });
  }

  /**
   * Keeps how a call ended, and notes in the same step the call after it; resolves when both are on
   * the disk. Calls that end in one turn of the event loop share the wait.
   */
  async end(end: CallEnd, nextKey: string | null): Promise<void> {
    const waiting = { end, nextKey, ...Promise.withResolvers<void>() };
    if (this.#waiting.push(waiting) === 1) setImmediate(() => this.#commitEnds());
    await waiting.promise;
  }

  /** Notes how this run was begun, for an export or to go on with it. */
  beginRun(begin: Omit<RunBegin, "setup">): void {
    this.#change(() => {
      this.#addSetup(); // also for a run without records
      this.#statements.addRun.run(JSON.stringify({ setup: this.#setupHash, ...begin }));
    });
  }

  /** Adds the facts of a complete run. */
  addRun(facts: RunFacts): void {
    this.#change(() => this.#statements.addRun.run(JSON.stringify(facts)));
  }

  /** Closes and unlocks the file. */
  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#unlock();
  }

  #addSetup(): void {
    const { service, questions } = this.setup;
    const text = JSON.stringify(questions);
    this.#statements.addSetup.run(this.#setupHash, service.address, service.modelId, text);
  }

  #commitEnds(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      this.#change(() => {
        for (const { end, nextKey } of waiting) this.#end(end, nextKey);
      });
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  #end(end: CallEnd, nextKey: string | null): void {
    const { keepAnswer, noteError, refuse, forgetBegun, begin } = this.#statements;
    const { id, key } = end;
    if ("error" in end) {
      noteError.run(end.error, id);
      if (end.isRefusal === true) refuse.run(end.error, key);
    } else {
      const state = JSON.stringify(end.state);
      const evaluation = toKeptText(end.evaluation);
      const digest = digestOf({ key, state, evaluation });
      keepAnswer.run(this.#setupHash, state, evaluation, digest, key);
    }
    forgetBegun.run(key);
    if (nextKey !== null) begin.run(nextKey);
  }

  #change(change: () => void): void {
    try {
      this.#statements.startStep.run();
      change();
      this.#statements.commitStep.run();
    } catch (error) {
      if (this.database.isTransaction) this.database.exec("ROLLBACK");
      throw toJournalError(error, this.path);
    }
  }
}

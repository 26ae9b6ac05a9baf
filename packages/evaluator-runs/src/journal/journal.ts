import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Evaluation, JsonValue } from "evaluator-client";
import { JournalReader } from "./journal-reader.ts";
import { type CallSetup, digestOf, setupHash, toKeptText } from "./kept-answer.ts";
import type { RunBegin, RunFacts } from "./run-facts.ts";
import { openForWriting, type OpenJournal, toJournalError } from "./open-journal.ts";

/** Where the answer about a mail is kept. */
interface MailEntry {
  readonly id: string;
  readonly key: string;
}

/** A mail of a run's input. */
export interface NotedMail extends MailEntry {
  /** What is noted of it, as JSON (`toNote`). */
  readonly note?: string | null;
}

/** How the call about a mail ended: with an answer about its state, or with an error; a refusal is for good. */
export type CallEnd = MailEntry &
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
  // The run that notes it will be the next row of its table.
  noteMail:
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

type Statements = Readonly<Record<keyof typeof statements, StatementSync>>;

/**
 * Keeps every answer on the disk before anything else happens with it, for one run at a time.
 *
 * The disk is waited for in this thread. A thread of its own made 4 and 10 % more calls at 20 ms
 * with 8 and 64 in flight, and 3 % fewer with one; on a disk that takes 5 ms to sync, a third and more
 * than a half fewer (2026-11-21, two cores, medians of five and three rounds).
 *
 * All methods throw a CliError when the disk or the file fails.
 */
export class Journal extends JournalReader implements Disposable {
  /** What this run asks, of whom. */
  readonly setup: CallSetup;
  readonly #setupHash: string;
  readonly #statements: Statements;
  readonly #close: () => void;
  #waiting: WaitingEnd[] = [];

  private constructor(path: string, setup: CallSetup, { database, close }: OpenJournal) {
    super(path, database);
    this.setup = setup;
    this.#setupHash = setupHash(setup);
    this.#close = close;
    this.#statements = prepareStatements(database);
  }

  /**
   * Opens a journal, or makes it.
   *
   * @param setup - What this run asks, of whom; an answer to anything else is another answer.
   */
  static open(path: string, setup: CallSetup): Journal {
    const opened = openForWriting(path);
    try {
      return new Journal(path, setup, opened);
    } catch (error) {
      opened.close();
      throw toJournalError(error, path);
    }
  }

  /** Notes in one step which mail of the input has its answer where. */
  noteMails(entries: Iterable<NotedMail>): void {
    const { addCall, noteMail, nextRun, lastWhole } = this.#statements;
    this.#change(() => {
      const seen = Number(nextRun.get()?.["run"]);
      const after = (lastWhole.get()?.["run"] ?? null) as number | null;
      this.#addSetup();
      for (const { id, key, note = null } of entries) {
        addCall.run(key);
        noteMail.run(id, seen, after, note, key);
      }
    });
  }

  /** Notes which calls begin. */
  begin(keys: readonly string[]): void {
    this.#change(() => {
      for (const key of keys) this.#statements.begin.run(key);
    });
  }

  /**
   * Keeps how a call ended and notes in the same step which call follows it; resolves when
   * both are on the disk. Calls that end in one turn of the event loop share the wait for it.
   */
  async end(end: CallEnd, nextKey: string | null): Promise<void> {
    const waiting = { end, nextKey, ...Promise.withResolvers<void>() };
    if (this.#waiting.push(waiting) === 1) setImmediate(() => this.#commitEnds());
    await waiting.promise;
  }

  /** Notes how this run was begun, for those who export it or go on with it. */
  beginRun(begin: Omit<RunBegin, "setup">): void {
    this.#change(() => {
      this.#addSetup(); // a run without mails has one as well
      this.#statements.addRun.run(JSON.stringify({ setup: this.#setupHash, ...begin }));
    });
  }

  /** Adds the facts of a run that has ended. */
  addRun(facts: RunFacts): void {
    this.#change(() => {
      this.#statements.addRun.run(JSON.stringify(facts));
    });
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#close();
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
    const { noteError, refuse, forgetBegun, begin } = this.#statements;
    if ("error" in end) noteError.run(end.error, end.id);
    else this.#keep(end);
    if ("error" in end && end.isRefusal === true) refuse.run(end.error, end.key);
    forgetBegun.run(end.key);
    if (nextKey !== null) begin.run(nextKey);
  }

  #keep({ key, ...answer }: Extract<CallEnd, { state: JsonValue }>): void {
    const state = JSON.stringify(answer.state);
    const evaluation = toKeptText(answer.evaluation);
    const digest = digestOf({ key, state, evaluation });
    this.#statements.keepAnswer.run(this.#setupHash, state, evaluation, digest, key);
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

// Once, since they run for every call.
function prepareStatements(database: DatabaseSync): Statements {
  const prepared = Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}

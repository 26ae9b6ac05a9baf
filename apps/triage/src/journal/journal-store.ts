import type { DatabaseSync } from "node:sqlite";
import { digestOf, isAsWritten } from "./digest.ts";
import { toJournalError } from "./journal-error.ts";
import { type JournalStatements, prepareStatements } from "./journal-statements.ts";
import { openDatabase } from "./open-database.ts";

/** Which file, and what its new answers answer. */
export interface StoreOptions {
  readonly path: string;
  readonly setup: StoredSetup;
}

/** What all calls of a run have in common, as it is stored. */
export interface StoredSetup {
  readonly hash: string;
  readonly wire: string;
  readonly model: string;
  /** As JSON. */
  readonly questions: string;
}

/** Where the answer about a mail is kept. */
export interface MailEntry {
  readonly id: string;
  readonly key: string;
}

/** What is known of an answer that is wanted. */
export type CallStatus = "answered" | "begun" | "changed" | "unknown";

/** How the call about a mail ended, as it is stored: state and evaluation are JSON. */
export type StoredEnd = MailEntry &
  ({ readonly state: string; readonly evaluation: string } | { readonly error: string });

/** How a call ended, and which call takes its place. */
export interface EndedCall {
  readonly end: StoredEnd;
  readonly nextKey: string | null;
}

/**
 * The tables of a journal, for one process at a time.
 *
 * All methods throw a TriageError when the disk or the file fails.
 */
export class JournalStore implements Disposable {
  readonly #path: string;
  readonly #setup: StoredSetup;
  readonly #database: DatabaseSync;
  readonly #statements: JournalStatements;

  constructor({ path, setup }: StoreOptions) {
    this.#path = path;
    this.#setup = setup;
    ({ database: this.#database, statements: this.#statements } = openPrepared(path));
  }

  /** Notes in one step which mail of the input has its answer where. */
  place(entries: readonly MailEntry[]): void {
    const { hash, wire, model, questions } = this.#setup;
    const { addSetup, addCall, placeMail } = this.#statements;
    this.#change(() => {
      addSetup.run(hash, wire, model, questions);
      for (const { id, key } of entries) {
        addCall.run(key);
        placeMail.run(id, key);
      }
    });
  }

  /** Says of each answer whether it is there as it was written, and if not, whether it was asked for. */
  statusesOf(keys: readonly string[]): CallStatus[] {
    return keys.map((key) => this.#statusOf(key));
  }

  /** Gives kept evaluations as JSON; null for what is not there, or not as it was written. */
  read(keys: readonly string[]): (string | null)[] {
    return keys.map((key) => {
      const row = this.#find("findAnswer", key);
      return row === null || !isAsWritten(row) ? null : String(row["evaluation"]);
    });
  }

  /** Notes which calls begin. */
  begin(keys: readonly string[]): void {
    this.#change(() => {
      for (const key of keys) this.#statements.begin.run(key);
    });
  }

  /** Keeps how calls ended and notes which calls take their places, all in one step. */
  end(calls: readonly EndedCall[]): void {
    this.#change(() => {
      for (const call of calls) this.#end(call);
    });
  }

  /** Adds the facts of a run that has ended, as JSON. */
  addRun(facts: string): void {
    this.#change(() => {
      this.#statements.addRun.run(facts);
    });
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#database.close();
  }

  #end({ end, nextKey }: EndedCall): void {
    const { noteError, forgetBegun, begin } = this.#statements;
    if ("error" in end) noteError.run(end.error, end.id);
    else this.#keep(end.key, end.state, end.evaluation);
    forgetBegun.run(end.key);
    if (nextKey !== null) begin.run(nextKey);
  }

  #keep(key: string, state: string, evaluation: string): void {
    const digest = digestOf({ key, state, evaluation });
    this.#statements.keepAnswer.run(this.#setup.hash, state, evaluation, digest, key);
  }

  #statusOf(key: string): CallStatus {
    const row = this.#find("findAnswer", key);
    if (row !== null) return isAsWritten(row) ? "answered" : "changed";
    return this.#find("findBegun", key) === null ? "unknown" : "begun";
  }

  #find(name: "findAnswer" | "findBegun", key: string): Record<string, unknown> | null {
    try {
      return this.#statements[name].get(key) ?? null;
    } catch (error) {
      throw toJournalError(error, this.#path);
    }
  }

  #change(change: () => void): void {
    try {
      this.#statements.startStep.run();
      change();
      this.#statements.commitStep.run();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw toJournalError(error, this.#path);
    }
  }
}

function openPrepared(path: string) {
  const database = openDatabase(path);
  try {
    return { database, statements: prepareStatements(database) };
  } catch (error) {
    database.close();
    throw toJournalError(error, path);
  }
}

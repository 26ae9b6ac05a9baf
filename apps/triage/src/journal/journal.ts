import type { DatabaseSync } from "node:sqlite";
import type { Evaluation, JsonValue } from "evaluator-client";
import { type CallSetup, setupHash } from "./call-setup.ts";
import { digestOf, isAsWritten } from "./digest.ts";
import { GroupCommit } from "./group-commit.ts";
import { toJournalError } from "./journal-error.ts";
import { type JournalStatements, prepareStatements } from "./journal-statements.ts";
import { fromKeptText, type KeptEvaluation, toKeptText } from "./kept-evaluation.ts";
import { openDatabase } from "./open-database.ts";

/** Where the answer about a mail is kept. */
export interface MailEntry {
  readonly id: string;
  readonly key: string;
}

/** What is known of an answer that is wanted. */
export type CallStatus = "answered" | "begun" | "changed" | "unknown";

/** How the call about a mail ended: with an answer about its state, or with an error. */
export type CallEnd = MailEntry &
  ({ readonly state: JsonValue; readonly evaluation: Evaluation } | { readonly error: string });

interface EndedCall {
  readonly end: CallEnd;
  readonly nextKey: string | null;
}

/**
 * Keeps every answer on the disk before anything else happens with it, for one process at a time.
 *
 * All methods throw a TriageError when the disk or the file fails.
 */
export class Journal implements Disposable {
  readonly #path: string;
  readonly #setup: CallSetup;
  readonly #setupHash: string;
  readonly #database: DatabaseSync;
  readonly #statements: JournalStatements;
  readonly #ends = new GroupCommit<EndedCall>((calls) =>
    this.#change(() => {
      for (const call of calls) this.#end(call);
    }),
  );

  /** @param setup - What this run asks, of whom; an answer to anything else is another answer. */
  constructor(path: string, setup: CallSetup) {
    this.#path = path;
    this.#setup = setup;
    this.#setupHash = setupHash(setup);
    ({ database: this.#database, statements: this.#statements } = openPrepared(path));
  }

  /** Notes in one step which mail of the input has its answer where. */
  place(entries: Iterable<MailEntry>): void {
    const { questions, service } = this.#setup;
    const { addSetup, placeMail } = this.#statements;
    this.#change(() => {
      addSetup.run(this.#setupHash, service.wire, service.modelId, JSON.stringify(questions));
      for (const { id, key } of entries) placeMail.run(id, key);
    });
  }

  /** Says whether an answer is there as it was written, and if not, whether it was asked for. */
  statusOf(key: string): CallStatus {
    const row = this.#find("findAnswer", key);
    if (row !== null) return isAsWritten(row) ? "answered" : "changed";
    return this.#find("findBegun", key) === null ? "unknown" : "begun";
  }

  /** Gives a kept answer; null when there is none, or not as it was written. */
  read(key: string): KeptEvaluation | null {
    const row = this.#find("findAnswer", key);
    if (row === null || !isAsWritten(row)) return null;
    return fromKeptText(String(row["evaluation"]), this.#setup.questions);
  }

  /** Notes which calls begin. */
  begin(keys: Iterable<string>): void {
    this.#change(() => {
      for (const key of keys) this.#statements.begin.run(key);
    });
  }

  /**
   * Keeps how a call ended and notes in the same step which call takes its place; resolves when
   * both are on the disk.
   */
  async end(end: CallEnd, nextKey: string | null): Promise<void> {
    await this.#ends.add({ end, nextKey });
  }

  /** Adds the facts of a run that has ended. */
  addRun(facts: object): void {
    this.#change(() => {
      this.#statements.addRun.run(JSON.stringify(facts));
    });
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#database.close();
  }

  #end({ end, nextKey }: EndedCall): void {
    const { noteError, forgetBegun, begin } = this.#statements;
    if ("error" in end) noteError.run(end.error, end.id);
    else this.#keep(end.key, JSON.stringify(end.state), toKeptText(end.evaluation));
    forgetBegun.run(end.key);
    if (nextKey !== null) begin.run(nextKey);
  }

  #keep(key: string, state: string, evaluation: string): void {
    const digest = digestOf({ key, state, evaluation });
    this.#statements.keepAnswer.run(key, this.#setupHash, state, evaluation, digest);
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
      this.#database.exec("BEGIN IMMEDIATE");
      change();
      this.#database.exec("COMMIT");
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

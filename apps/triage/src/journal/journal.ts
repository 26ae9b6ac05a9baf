import type { DatabaseSync } from "node:sqlite";
import type { Evaluation, Questions } from "evaluator-client";
import type { AskedCall } from "./journal-key.ts";
import { toJournalError } from "./journal-error.ts";
import { digestOf, fromKeptText, type KeptEvaluation, toKeptText } from "./kept-evaluation.ts";
import { openDatabase } from "./open-database.ts";

/** Where the answer about a mail is kept. */
export interface MailEntry {
  readonly id: string;
  readonly key: string;
}

/** What is known of an answer that is wanted. */
export type CallStatus = "answered" | "begun" | "changed" | "unknown";

/**
 * Keeps every answer on the disk before anything else happens with it, for one process at a time.
 *
 * All methods throw a TriageError when the disk or the file fails.
 */
export class Journal {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #questions: Questions;
  readonly #questionsHash: string;

  /** @param questions - The questions of this run; an answer to others is another answer. */
  constructor(path: string, questions: Questions) {
    this.path = path;
    this.#database = openDatabase(path);
    this.#questions = questions;
    this.#questionsHash = digestOf(JSON.stringify(questions));
  }

  /** Notes in one step which mail of the input has its answer where. */
  place(entries: Iterable<MailEntry>): void {
    this.#change(() => {
      const questions = "INSERT OR IGNORE INTO questions VALUES (?, ?)";
      this.#database.prepare(questions).run(this.#questionsHash, JSON.stringify(this.#questions));
      const mail = this.#database.prepare("INSERT OR REPLACE INTO mails VALUES (?, ?, NULL)");
      for (const { id, key } of entries) mail.run(id, key);
    });
  }

  /** Says whether an answer is there, and if not, whether it was asked for. */
  statusOf(key: string): CallStatus {
    const row = this.#get("SELECT evaluation FROM calls WHERE key = ?", key);
    if (row === undefined) return "unknown";
    if (row["evaluation"] === null) return "begun";
    return this.read(key) === null ? "changed" : "answered";
  }

  /** Gives a kept answer; null when there is none, or not as it was written. */
  read(key: string): KeptEvaluation | null {
    const row = this.#get("SELECT state, evaluation, digest FROM calls WHERE key = ?", key);
    if (typeof row?.["evaluation"] !== "string") return null;
    const { state, evaluation, digest } = row;
    if (digestOf(key, String(state), evaluation) !== digest) return null;
    return fromKeptText(evaluation, this.#questions);
  }

  /** Notes that a call begins. */
  begin(key: string, { request, service }: Omit<AskedCall, "repeat">): void {
    const sql = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, NULL, NULL)";
    const state = JSON.stringify(request.state);
    this.#change(() => {
      const { wire, modelId } = service;
      this.#database.prepare(sql).run(key, state, this.#questionsHash, wire, modelId);
    });
  }

  /** Keeps the answer to a call that was begun. */
  answer(key: string, evaluation: Evaluation): void {
    const state = this.#get("SELECT state FROM calls WHERE key = ?", key)?.["state"];
    const text = toKeptText(evaluation);
    const sql = "UPDATE calls SET evaluation = ?, digest = ? WHERE key = ?";
    this.#change(() => {
      this.#database.prepare(sql).run(text, digestOf(key, String(state), text), key);
    });
  }

  /** Notes that a call ended without an answer, and why. */
  fail(key: string, message: string): void {
    this.#change(() => {
      this.#database.prepare("DELETE FROM calls WHERE key = ?").run(key);
      this.#database.prepare("UPDATE mails SET error = ? WHERE key = ?").run(message, key);
    });
  }

  /** Adds the facts of a run that has ended. */
  addRun(facts: object): void {
    this.#change(() => {
      this.#database.prepare("INSERT INTO runs (facts) VALUES (?)").run(JSON.stringify(facts));
    });
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#database.close();
  }

  #get(sql: string, key: string): Record<string, unknown> | undefined {
    try {
      return this.#database.prepare(sql).get(key);
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  #change(change: () => void): void {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      change();
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw toJournalError(error, this.path);
    }
  }
}

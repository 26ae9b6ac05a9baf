import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { JsonValue, Questions } from "evaluator-client";
import { TriageError } from "../errors.ts";
import { digestOf, fromKeptText, type KeptEvaluation } from "./kept-evaluation.ts";
import { openDatabase } from "./open-database.ts";

/** All that a journal knows of one mail. */
export interface JournalEntry {
  readonly id: string;
  readonly state: JsonValue;
  readonly questions: Questions;
  readonly wire: string;
  readonly modelId: string;
  /** Null when the answer is not there, or not as it was written. */
  readonly evaluation: KeptEvaluation | null;
}

/** Reads what runs have left in a journal. */
export class JournalReader implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;

  /** @throws TriageError when there is no journal at the path, or it cannot be used. */
  constructor(path: string) {
    if (!existsSync(path)) {
      throw new TriageError(`There is no journal at ${path}; run triage on its file first.`);
    }
    this.#path = path;
    this.#database = openDatabase(path);
  }

  /** Gives what is known of a mail. @throws TriageError when that is nothing. */
  find(id: string): JournalEntry {
    const mail = this.#database.prepare("SELECT key, error FROM mails WHERE id = ?").get(id);
    if (mail === undefined) throw new TriageError(`${this.#path} knows no mail with this id.`);
    const key = String(mail["key"]);
    const sql =
      "SELECT state, wire, model, evaluation, digest, questions.questions AS questions FROM calls " +
      "JOIN questions ON hash = calls.questions WHERE key = ?";
    const call = this.#database.prepare(sql).get(key);
    if (call === undefined) {
      const why = mail["error"] === null ? "It was not asked about yet." : String(mail["error"]);
      throw new TriageError(`There is no answer about this mail. ${why}`);
    }
    const questions = JSON.parse(String(call["questions"])) as Questions;
    const isAsWritten =
      call["digest"] === digestOf(key, String(call["state"]), String(call["evaluation"]));
    return {
      id,
      questions,
      state: JSON.parse(String(call["state"])) as JsonValue,
      wire: String(call["wire"]),
      modelId: String(call["model"]),
      evaluation: isAsWritten ? fromKeptText(String(call["evaluation"]), questions) : null,
    };
  }

  /** Gives the facts of all runs, the oldest first. */
  runs(): unknown[] {
    const rows = this.#database.prepare("SELECT facts FROM runs ORDER BY run").all();
    return rows.map(({ facts }) => JSON.parse(String(facts)) as unknown);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

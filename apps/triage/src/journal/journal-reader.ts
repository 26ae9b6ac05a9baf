import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { JsonValue, Questions } from "evaluator-client";
import { TriageError } from "../errors.ts";
import type { Service } from "../service.ts";
import { isKeyOf } from "./call-key.ts";
import { setupHash } from "./call-setup.ts";
import { isAsWritten } from "./digest.ts";
import { toJournalError } from "./journal-error.ts";
import { fromKeptText, type KeptEvaluation } from "./kept-evaluation.ts";
import { openDatabase } from "./open-database.ts";
import { plainMessage } from "../text/plain-message.ts";

/** All that a journal knows of one mail. */
export interface JournalEntry {
  readonly id: string;
  readonly state: JsonValue;
  readonly questions: Questions;
  readonly service: Service;
  /** Null when the answer is not as it was written. */
  readonly evaluation: KeptEvaluation | null;
}

const findMail = "SELECT key, error FROM mails JOIN calls USING (call) WHERE id = ?";
const findAnswer =
  "SELECT key, state, evaluation, digest, wire, model, questions " +
  "FROM calls JOIN answers USING (call) JOIN setups USING (setup) WHERE key = ?";

/** Reads what runs have left in a journal; its methods throw a TriageError when that is damaged. */
export class JournalReader implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;

  /** @throws TriageError when there is no journal at the path, or it cannot be used. */
  constructor(path: string) {
    if (!existsSync(path)) {
      const problem = plainMessage`There is no journal at ${path}`;
      throw new TriageError(`${problem}; run triage on its file first.`);
    }
    this.#path = path;
    this.#database = openDatabase(path);
  }

  /** Gives what is known of a mail. @throws TriageError when that is nothing. */
  find(id: string): JournalEntry {
    const [mail] = this.#all(findMail, id);
    if (mail === undefined) {
      throw new TriageError(plainMessage`${this.#path} knows no mail with this id.`);
    }
    const [answer] = this.#all(findAnswer, String(mail["key"]));
    if (answer !== undefined) return toEntry(id, answer);
    const why = typeof mail["error"] === "string" ? mail["error"] : "None has come yet.";
    throw new TriageError(plainMessage`There is no answer about this mail. ${why}`);
  }

  /** Gives the facts of all runs, the oldest first. */
  runs(): unknown[] {
    const rows = this.#all("SELECT facts FROM runs ORDER BY run");
    return rows.map(({ facts }) => JSON.parse(String(facts)) as unknown);
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#database.close();
  }

  #all(sql: string, ...values: string[]): Record<string, unknown>[] {
    try {
      return this.#database.prepare(sql).all(...values);
    } catch (error) {
      throw toJournalError(error, this.#path);
    }
  }
}

function toEntry(id: string, row: Record<string, unknown>): JournalEntry {
  const [key, state] = [String(row["key"]), String(row["state"])];
  const questions = JSON.parse(String(row["questions"])) as Questions;
  const service = { wire: String(row["wire"]), modelId: String(row["model"]) };
  const isWhole = isAsWritten(row) && isKeyOf(key, setupHash({ questions, service }), state);
  return {
    id,
    questions,
    service,
    state: JSON.parse(state) as JsonValue,
    evaluation: isWhole ? fromKeptText(String(row["evaluation"]), questions) : null,
  };
}

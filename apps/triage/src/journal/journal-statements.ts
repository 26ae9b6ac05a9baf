import type { DatabaseSync, StatementSync } from "node:sqlite";

const statements = {
  addSetup: "INSERT OR IGNORE INTO setups (hash, wire, model, questions) VALUES (?, ?, ?, ?)",
  placeMail: "INSERT OR REPLACE INTO mails VALUES (?, ?, NULL)",
  findAnswer: "SELECT key, state, evaluation, digest FROM answers WHERE key = ?",
  findBegun: "SELECT key FROM begun WHERE key = ?",
  begin: "INSERT OR IGNORE INTO begun VALUES (?)",
  forgetBegun: "DELETE FROM begun WHERE key = ?",
  keepAnswer:
    "INSERT OR REPLACE INTO answers (key, setup, state, evaluation, digest) " +
    "VALUES (?, (SELECT setup FROM setups WHERE hash = ?), ?, ?, ?)",
  noteError: "UPDATE mails SET error = ? WHERE id = ?",
  addRun: "INSERT INTO runs (facts) VALUES (?)",
};

/** The statements of a journal, by what they do. */
export type JournalStatements = Readonly<Record<keyof typeof statements, StatementSync>>;

/** Prepares the statements of a journal once, since they run for every call. */
export function prepareStatements(database: DatabaseSync): JournalStatements {
  const prepared = Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared) as JournalStatements;
}

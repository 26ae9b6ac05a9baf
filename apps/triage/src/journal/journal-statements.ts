import type { DatabaseSync, StatementSync } from "node:sqlite";

const statements = {
  startStep: "BEGIN IMMEDIATE",
  commitStep: "COMMIT",
  addSetup: "INSERT OR IGNORE INTO setups (hash, wire, model, questions) VALUES (?, ?, ?, ?)",
  addCall: "INSERT OR IGNORE INTO calls (key) VALUES (?)",
  placeMail: "INSERT OR REPLACE INTO mails SELECT ?, call, NULL FROM calls WHERE key = ?",
  findAnswer:
    "SELECT key, state, evaluation, digest FROM calls JOIN answers USING (call) WHERE key = ?",
  findBegun: "SELECT key FROM calls JOIN begun USING (call) WHERE key = ?",
  begin: "INSERT OR IGNORE INTO begun SELECT call FROM calls WHERE key = ?",
  forgetBegun: "DELETE FROM begun WHERE call = (SELECT call FROM calls WHERE key = ?)",
  keepAnswer:
    "INSERT OR REPLACE INTO answers " +
    "SELECT call, (SELECT setup FROM setups WHERE hash = ?), ?, ?, ? FROM calls WHERE key = ?",
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

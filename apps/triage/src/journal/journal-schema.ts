/** Marks the file as a journal of this program. */
export const applicationId = 0x54524947;

/** Goes up when the tables change; a journal of another version is refused. */
export const journalVersion = 1;

/** The tables. A call without an evaluation was begun, and nobody saw it end. */
export const journalTables = `
CREATE TABLE questions (
  hash TEXT PRIMARY KEY,
  questions TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
  key TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  questions TEXT NOT NULL REFERENCES questions (hash),
  wire TEXT NOT NULL,
  model TEXT NOT NULL,
  evaluation TEXT,
  digest TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL,
  error TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  facts TEXT NOT NULL
) STRICT;
`;

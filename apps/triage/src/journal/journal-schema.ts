/** Marks the file as a journal of this program. */
export const applicationId = 0x54524947;

/** Goes up when the tables change; a journal of another version is refused. */
export const journalVersion = 2;

/** Bytes in a page: three answers fit into one, and one into few pages of the system. */
export const pageSize = 8192;

/** The tables. A key in `begun` is that of a call nobody has seen end. */
export const journalTables = `
CREATE TABLE setups (
  setup INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  wire TEXT NOT NULL,
  model TEXT NOT NULL,
  questions TEXT NOT NULL
) STRICT;

CREATE TABLE begun (
  key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
  answer INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  setup INTEGER NOT NULL REFERENCES setups (setup),
  state TEXT NOT NULL,
  evaluation TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;

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

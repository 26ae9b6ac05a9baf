/** Marks the file as a journal of this program. */
export const applicationId = 0x54524947;

/** Goes up when the tables change; a journal of another version is rejected. */
export const journalVersion = 4;

/** What makes the tables of the version before those of this one. */
export const journalUpgrade = `
ALTER TABLE mails ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mails ADD COLUMN after INTEGER;
ALTER TABLE mails ADD COLUMN source TEXT;
`;

/** The calls that the service refuses for good; a journal of an earlier day lacks them. */
export const refusalsTable =
  "refusals (call INTEGER PRIMARY KEY REFERENCES calls (call), error TEXT NOT NULL) STRICT";

/** Bytes in a page: three answers fit into one, and one into few pages of the system. */
export const pageSize = 8192;

/**
 * The tables. A call in `begun` was sent, and its end is not known. A mail was `seen` last by a run;
 * it is new since the run it came `after`, null where none had gone through before.
 *
 * Keys are random, and a random key in an index costs a page of the log in each step: so they are
 * entered before the first call, and from then on a number stands for a key (benchmark: triage).
 */
export const journalTables = `
CREATE TABLE setups (
  setup INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  wire TEXT NOT NULL,
  model TEXT NOT NULL,
  questions TEXT NOT NULL
) STRICT;

CREATE TABLE calls (
  call INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  call INTEGER NOT NULL REFERENCES calls (call),
  error TEXT,
  seen INTEGER NOT NULL DEFAULT 0,
  after INTEGER,
  source TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE begun (
  call INTEGER PRIMARY KEY REFERENCES calls (call)
) STRICT;

CREATE TABLE answers (
  call INTEGER PRIMARY KEY REFERENCES calls (call),
  setup INTEGER NOT NULL REFERENCES setups (setup),
  state TEXT NOT NULL,
  evaluation TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  facts TEXT NOT NULL
) STRICT;
`;

/** What brings the tables of an earlier version to the next one. */
export const upgrades: Readonly<Record<number, string>> = {
  3: `ALTER TABLE mails ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE mails ADD COLUMN after INTEGER;
    ALTER TABLE mails ADD COLUMN source TEXT;`,
  4: "ALTER TABLE mails RENAME TO records;",
  // The records of the last run are known, unless a run began after it.
  5: `ALTER TABLE records ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
    UPDATE runs SET facts = json_set(facts, '$.seen', (SELECT max(seen) FROM records))
      WHERE run = (SELECT max(run) FROM runs WHERE facts ->> 'finishedAt' IS NOT NULL)
      AND run >= (SELECT max(seen) FROM records);`,
};

/**
 * Tables that older journals lack: the calls that the service refuses each time, the records that a person
 * put away, and what a record was in earlier runs: those from `since` to `seen`.
 */
export const laterTables = {
  refusals:
    "refusals (call INTEGER PRIMARY KEY REFERENCES calls (call), error TEXT NOT NULL) STRICT",
  choices: "choices (id TEXT PRIMARY KEY, until TEXT NOT NULL) STRICT, WITHOUT ROWID",
  earlier: `earlier (id TEXT NOT NULL, call INTEGER NOT NULL REFERENCES calls (call), error TEXT,
    seen INTEGER NOT NULL, after INTEGER, source TEXT, since INTEGER NOT NULL,
    PRIMARY KEY (id, since)) STRICT, WITHOUT ROWID`,
};

/** Keeps what a record was, once it is another one. */
export const keepEarlier = `CREATE TRIGGER IF NOT EXISTS keep_earlier AFTER UPDATE OF since ON records
  WHEN new.since > old.since BEGIN INSERT INTO earlier VALUES (old.id, old.call, old.error,
    min(old.seen, new.since - 1), old.after, old.source, old.since); END`;

/**
 * The tables. A call in `begun` was sent, and its end is not known. A record in `records` is the same in
 * all runs from `since` to `seen`; it is new since the run `after`, null if no run before it was complete.
 *
 * Keys are random, and a random key in an index costs a page of the log in each step. So keys are
 * entered before the first call, and from then on a number replaces the key (benchmark: triage).
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

CREATE TABLE records (
  id TEXT PRIMARY KEY,
  call INTEGER NOT NULL REFERENCES calls (call),
  error TEXT,
  seen INTEGER NOT NULL DEFAULT 0,
  after INTEGER,
  source TEXT,
  since INTEGER NOT NULL DEFAULT 0
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

/** Joins the answers to records: a call that failed in a run may have an answer since a later one. */
export function answersTo(recordsTable: string): string {
  return `answers ON answers.call = ${recordsTable}.call AND ${recordsTable}.error IS NULL`;
}

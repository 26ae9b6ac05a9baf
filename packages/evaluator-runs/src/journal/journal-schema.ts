import { calibrationArtifactSchema } from "evaluator-calibration";
import { z } from "zod";

/** Marks a file as a journal. */
export const applicationId = 0x54524947;

/** Goes up when the tables change; a journal of another version is rejected. */
export const journalVersion = 4;

/** Upgrades the tables of the version before. */
export const journalUpgrade = `
ALTER TABLE mails ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mails ADD COLUMN after INTEGER;
ALTER TABLE mails ADD COLUMN source TEXT;
`;

/** The calls that the service refuses each time; older journals lack this table. */
export const refusalsTable =
  "refusals (call INTEGER PRIMARY KEY REFERENCES calls (call), error TEXT NOT NULL) STRICT";

/** Bytes in a page, which holds three answers. */
export const pageSize = 8192;

/**
 * The tables. A call in `begun` was sent, and its end is not known. A record in `mails` was last
 * `seen` in a run; it is new since the run `after`, null if no run before it was complete.
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

/** The queries of a journal. */
export const readStatements = {
  byKey: "SELECT key, state, evaluation, digest FROM calls JOIN answers USING (call) WHERE key = ?",
  openByKey:
    "SELECT begun.call AS begun, refusals.call AS refused FROM calls " +
    "LEFT JOIN begun USING (call) LEFT JOIN refusals USING (call) WHERE key = ?",
  record: "SELECT key, error FROM mails JOIN calls USING (call) WHERE id = ?",
  answer:
    "SELECT key, state, evaluation, digest, wire, model, questions " +
    "FROM calls JOIN answers USING (call) JOIN setups USING (setup) WHERE key = ?",
  end:
    "SELECT key, state, evaluation, digest, mails.error, refusals.call AS refused " +
    "FROM mails JOIN calls USING (call) LEFT JOIN answers USING (call) " +
    "LEFT JOIN refusals USING (call) WHERE id = ?",
  // In the order of the answers in the file: in order of id, a million records are random reads.
  results:
    "WITH seen AS MATERIALIZED (SELECT call, id, error, source FROM mails " +
    "WHERE seen = (SELECT max(seen) FROM mails) ORDER BY call) " +
    "SELECT id, seen.error, source, key, state, evaluation, digest, hash, refusals.call AS refused " +
    "FROM seen JOIN calls USING (call) LEFT JOIN answers USING (call) " +
    "LEFT JOIN setups USING (setup) LEFT JOIN refusals USING (call)",
  newIds:
    "SELECT id FROM mails WHERE after = (SELECT max(after) FROM mails) " +
    "AND seen = (SELECT max(seen) FROM mails)",
  newSince:
    "SELECT facts ->> 'finishedAt' AS since FROM runs WHERE run = (SELECT max(after) FROM mails)",
  setup: "SELECT wire, model, questions FROM setups WHERE hash = ?",
  newestSetup: "SELECT wire, model, questions FROM setups ORDER BY setup DESC LIMIT 1",
  newestRuns: "SELECT facts FROM runs ORDER BY run DESC",
  progress:
    "SELECT (SELECT count(*) FROM mails) AS records, (SELECT count(*) FROM begun) AS begun, " +
    "(SELECT count(*) FROM mails WHERE error IS NOT NULL) AS failed, " +
    "(SELECT count(*) FROM mails JOIN refusals USING (call)) AS refused, " +
    "(SELECT count(*) FROM mails JOIN answers USING (call)) AS answered, " +
    "(SELECT sum(evaluation ->> 'costUsd') FROM answers) AS costUsd",
  runs: "SELECT facts FROM runs ORDER BY run",
  answered:
    "SELECT id, key, state, evaluation, digest, wire, model, questions FROM mails " +
    "JOIN calls USING (call) JOIN answers USING (call) JOIN setups USING (setup)",
  records:
    "SELECT id, state, evaluation, setup, wire, model, questions FROM mails " +
    "LEFT JOIN answers USING (call) LEFT JOIN setups USING (setup)",
};

/** How a run was begun: enough to go on with it later. */
export const runBeginSchema = z.object({
  /** The hash of questions, model and address. */
  setup: z.string(),
  /** The number of records, from the start of the input. */
  mails: z.int(),
  /** The typed options with absolute paths, and those of the source; null means Infinity. */
  options: z.looseObject({
    limit: z.int().nullable(),
    skipInvalid: z.boolean(),
    questions: z.string().nullable(),
    calibration: z.string().nullable(),
    format: z.enum(["json", "ndjson", "csv"]),
    maxCostUsd: z.number().nullable(),
  }),
});
/** See {@link runBeginSchema}. */
export type RunBegin = z.infer<typeof runBeginSchema>;

/** The facts of one complete run. */
export const runFactsSchema = z.object({
  finishedAt: z.string(),
  wire: z.string(),
  modelId: z.string(),
  mails: z.int(),
  answered: z.int(),
  failed: z.int(),
  inputTokens: z.number(),
  costUsd: z.number(),
  elapsedMs: z.number(),
  /** Whether no price of the engine was known; `costUsd` is 0 then. */
  isUnpriced: z.boolean().optional(),
  /** The calibration of the results; the kept answers are not changed by it. */
  calibration: calibrationArtifactSchema.optional(),
});
/** See {@link runFactsSchema}. */
export type RunFacts = z.infer<typeof runFactsSchema>;

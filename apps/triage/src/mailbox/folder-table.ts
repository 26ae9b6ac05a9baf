import { existsSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { CliError, openPrivateDatabase, printable } from "evaluator-kit";
import { isEmptyMail } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";

/** The state of a folder at its last read. */
export interface FolderState {
  readonly account: string;
  readonly folder: string;
  readonly uidvalidity: number;
  /** Null if not all mails are read, or if the server has no such number. */
  readonly uidnext: number | null;
  readonly highestmodseq: string | null;
  /** The first day of the mails that were read; null for all. */
  readonly since: string | null;
}

/** Throws a `CliError` for a table of another folder. */
export function rejectTable(path: string, { folder, account }: FolderState, wanted: string): never {
  const problem = printable`${path} has the mails of ${folder} of ${account}`;
  throw new CliError(printable`${problem}; name another file for ${wanted}.`);
}

const tables = `
CREATE TABLE IF NOT EXISTS folder (
  one INTEGER PRIMARY KEY CHECK (one = 1), account TEXT NOT NULL, folder TEXT NOT NULL,
  uidvalidity INTEGER NOT NULL, uidnext INTEGER, highestmodseq TEXT, since TEXT);
CREATE TABLE IF NOT EXISTS mail (
  id TEXT PRIMARY KEY, uid INTEGER UNIQUE, record TEXT NOT NULL)`;

// Version 0 believed answers that lacked the header or the text; mails without a text are read again.
const migration = `
UPDATE folder SET uidnext = NULL, highestmodseq = NULL
  WHERE EXISTS (SELECT 1 FROM mail WHERE record ->> 'snippet' = '');
UPDATE mail SET uid = NULL WHERE record ->> 'snippet' = '';
PRAGMA user_version = 1`;

/** The record of a mail that has nothing to ask about. */
const EMPTY = "null";

/** The mails of a folder that were read, in a file beside the file of mails. */
export class FolderTable implements Disposable {
  /** The path of a new file; empty for one that was there. */
  readonly #createdText: string;
  readonly #database: DatabaseSync;

  /** @throws CliError if the file is not such a table. */
  constructor(path: string) {
    this.#createdText = existsSync(path) ? "" : path;
    try {
      this.#database = openPrivateDatabase(path, prepare);
    } catch (error) {
      const problem = printable`${path} is damaged or is no table of a mailbox`;
      throw new CliError(`${problem}; move it away to read the mailbox anew.`, { cause: error });
    }
  }

  /** Closes the table, and removes a new one if no folder was read. */
  [Symbol.dispose](): void {
    const unusedPath = this.state === null ? this.#createdText : "";
    this.#database.close();
    if (unusedPath !== "") rmSync(unusedPath);
  }

  /** Null before the first read. */
  get state(): FolderState | null {
    return (this.#database.prepare("SELECT * FROM folder").get() ?? null) as FolderState | null;
  }

  /** Returns the known UIDs, sorted. */
  uids(): number[] {
    const rows = this.#database
      .prepare("SELECT uid FROM mail WHERE uid NOT NULL ORDER BY uid")
      .all();
    return rows.map(({ uid }) => Number(uid));
  }

  /** Starts a folder with other UIDs; its mails stay, to be found by id. */
  async begin(state: FolderState): Promise<void> {
    await this.#inTransaction(() => {
      this.#database.exec("UPDATE mail SET uid = NULL");
      this.#keep(state);
    });
  }

  /** The number of records. */
  get count(): number {
    return this.#count("<>");
  }

  /** The number of mails that have nothing to ask about. */
  get empty(): number {
    return this.#count("=");
  }

  #count(comparison: "=" | "<>"): number {
    const select = `SELECT count(*) AS n FROM mail WHERE uid NOT NULL AND record ${comparison} ?`;
    return Number(this.#database.prepare(select).get(EMPTY)?.["n"]);
  }

  /**
   * Adds mails; one with the id of another mail of the folder gets a number behind it. The ids of mails that
   * are gone are free, since a mail that left may be back.
   */
  async add(
    mails: readonly (readonly [uid: number, mail: Mail])[],
    missingValues: readonly number[] = [],
  ) {
    const find = this.#database.prepare("SELECT uid, record FROM mail WHERE id = ?");
    const insert = this.#database.prepare(insertMail);
    await this.#inTransaction(() => {
      this.#database
        .prepare("UPDATE mail SET uid = NULL WHERE uid IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(missingValues));
      for (const [uid, mail] of mails) {
        let [id, knownRow] = [mail.id, find.get(mail.id)];
        for (let copy = 2; knownRow !== undefined && knownRow["uid"] !== null; copy += 1) {
          id = `${mail.id}#${copy}`;
          knownRow = find.get(id);
        }
        const before = JSON.parse(String(knownRow?.["record"] ?? EMPTY)) as Mail | null;
        // The server may not hand out a text that it did before.
        const isLess = mail.snippet === "" && (before?.snippet ?? "") !== "";
        const record = isLess ? { ...before, source: mail.source } : { ...mail, id };
        insert.run(id, uid, !isLess && isEmptyMail(mail) ? EMPTY : JSON.stringify(record));
      }
    });
  }

  /**
   * Removes mails that are gone, and keeps the state once `write` has written the others; returns how many were
   * removed. A mail that the server gave another UID is not one of them.
   */
  async end(state: FolderState, missingValues: readonly number[], write: () => Promise<void>) {
    let removedCount = 0;
    await this.#inTransaction(async () => {
      const { changes } = this.#database
        .prepare("DELETE FROM mail WHERE uid IS NULL OR uid IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(missingValues));
      removedCount = Number(changes);
      this.#keep(state);
      await write();
    });
    return removedCount;
  }

  /** Returns the records in the order of the folder; only those of some UIDs, if there is a list. */
  *mails(uids: readonly number[] | null = null): Generator<Mail> {
    const rows = this.#database.prepare(selectRecords);
    const list = uids && JSON.stringify(uids);
    for (const { record } of rows.iterate(EMPTY, list, list)) {
      yield JSON.parse(String(record)) as Mail;
    }
  }

  #keep(state: FolderState): void {
    const { account, folder, uidvalidity, uidnext, highestmodseq, since } = state;
    this.#database
      .prepare("REPLACE INTO folder VALUES (1, ?, ?, ?, ?, ?, ?)")
      .run(account, folder, uidvalidity, uidnext, highestmodseq, since);
  }

  async #inTransaction(change: () => void | Promise<void>): Promise<void> {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      await change();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

// A mail that is there is not replaced.
const insertMail = `
INSERT INTO mail VALUES (?, ?, ?) ON CONFLICT (uid) DO NOTHING
ON CONFLICT (id) DO UPDATE SET uid = excluded.uid, record = excluded.record`;

const selectRecords = `SELECT record FROM mail WHERE uid NOT NULL AND record <> ?
AND (? IS NULL OR uid IN (SELECT value FROM json_each(?))) ORDER BY uid`;

function prepare(database: DatabaseSync): void {
  database.exec(tables);
  const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
  if (version === 0) database.exec(`BEGIN IMMEDIATE; ${migration}; COMMIT`);
}

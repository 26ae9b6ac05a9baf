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
export function rejectTable(
  tablePath: string,
  { folder, account }: FolderState,
  wantedFolder: string,
): never {
  const problem = printable`${tablePath} has the mails of ${folder} of ${account}`;
  throw new CliError(printable`${problem}; name another file for ${wantedFolder}.`);
}

const createTables = `
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
const EMPTY_RECORD = "null";

/** The mails of a folder that were read, in a file beside the file of mails. */
export class FolderTable implements Disposable {
  /** The path of a new file; empty for one that was there. */
  readonly #createdText: string;
  readonly #database: DatabaseSync;

  /** @throws CliError if the file is not such a table. */
  constructor(tablePath: string) {
    this.#createdText = existsSync(tablePath) ? "" : tablePath;
    try {
      this.#database = openPrivateDatabase(tablePath, prepare);
    } catch (error) {
      const problem = printable`${tablePath} is damaged or is no table of a mailbox`;
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
  listUids(): number[] {
    const uidRows = this.#database
      .prepare("SELECT uid FROM mail WHERE uid NOT NULL ORDER BY uid")
      .all();
    return uidRows.map(({ uid }) => Number(uid));
  }

  /** Starts a folder with other UIDs; its mails stay, to be found by id. */
  async beginSync(folderState: FolderState): Promise<void> {
    await this.#inTransaction(() => {
      this.#database.exec("UPDATE mail SET uid = NULL");
      this.#keepState(folderState);
    });
  }

  /** The number of records. */
  get count(): number {
    return this.#countMails("<>");
  }

  /** The number of mails that have nothing to ask about. */
  get empty(): number {
    return this.#countMails("=");
  }

  #countMails(comparison: "=" | "<>"): number {
    const selectCount = `SELECT count(*) AS n FROM mail WHERE uid NOT NULL AND record ${comparison} ?`;
    return Number(this.#database.prepare(selectCount).get(EMPTY_RECORD)?.["n"]);
  }

  /**
   * Adds mails; one with the id of another mail of the folder gets a number behind it. The ids of mails that
   * are gone are free, since a mail that left may be back.
   */
  async addMails(
    uidMails: readonly (readonly [uid: number, mail: Mail])[],
    missingValues: readonly number[] = [],
  ) {
    const findRecord = this.#database.prepare("SELECT uid, record FROM mail WHERE id = ?");
    const insertRecord = this.#database.prepare(insertMail);
    await this.#inTransaction(() => {
      this.#database
        .prepare("UPDATE mail SET uid = NULL WHERE uid IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(missingValues));
      for (const [mailUid, newMail] of uidMails) {
        let [mailId, knownRow] = [newMail.id, findRecord.get(newMail.id)];
        for (
          let copyNumber = 2;
          knownRow !== undefined && knownRow["uid"] !== null;
          copyNumber += 1
        ) {
          mailId = `${newMail.id}#${copyNumber}`;
          knownRow = findRecord.get(mailId);
        }
        const recordBefore = JSON.parse(
          String(knownRow?.["record"] ?? EMPTY_RECORD),
        ) as Mail | null;
        // The server may not hand out a text that it did before.
        const hasLessText = newMail.snippet === "" && (recordBefore?.snippet ?? "") !== "";
        const mailRecord = hasLessText
          ? { ...recordBefore, source: newMail.source }
          : { ...newMail, id: mailId };
        insertRecord.run(
          mailId,
          mailUid,
          !hasLessText && isEmptyMail(newMail) ? EMPTY_RECORD : JSON.stringify(mailRecord),
        );
      }
    });
  }

  /**
   * Removes mails that are gone, and keeps the state once `write` has written the others; returns how many were
   * removed. A mail that the server gave another UID is not one of them.
   */
  async endSync(
    folderState: FolderState,
    missingValues: readonly number[],
    writeMails: () => Promise<void>,
  ) {
    let removedCount = 0;
    await this.#inTransaction(async () => {
      const { changes } = this.#database
        .prepare("DELETE FROM mail WHERE uid IS NULL OR uid IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(missingValues));
      removedCount = Number(changes);
      this.#keepState(folderState);
      await writeMails();
    });
    return removedCount;
  }

  /** Returns the records in the order of the folder; only those of some UIDs, if there is a list. */
  *listMails(wantedUids: readonly number[] | null = null): Generator<Mail> {
    const recordRows = this.#database.prepare(selectRecords);
    const uidList = wantedUids && JSON.stringify(wantedUids);
    for (const { record } of recordRows.iterate(EMPTY_RECORD, uidList, uidList)) {
      yield JSON.parse(String(record)) as Mail;
    }
  }

  #keepState(folderState: FolderState): void {
    const { account, folder, uidvalidity, uidnext, highestmodseq, since } = folderState;
    this.#database
      .prepare("REPLACE INTO folder VALUES (1, ?, ?, ?, ?, ?, ?)")
      .run(account, folder, uidvalidity, uidnext, highestmodseq, since);
  }

  async #inTransaction(makeChange: () => void | Promise<void>): Promise<void> {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      await makeChange();
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
  database.exec(createTables);
  const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
  if (version === 0) database.exec(`BEGIN IMMEDIATE; ${migration}; COMMIT`);
}

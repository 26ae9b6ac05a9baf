import { existsSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { CliError, openPrivateDatabase, printable } from "evaluator-kit";
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

const tables = `
CREATE TABLE IF NOT EXISTS folder (
  one INTEGER PRIMARY KEY CHECK (one = 1), account TEXT NOT NULL, folder TEXT NOT NULL,
  uidvalidity INTEGER NOT NULL, uidnext INTEGER, highestmodseq TEXT, since TEXT);
CREATE TABLE IF NOT EXISTS mail (
  id TEXT PRIMARY KEY, uid INTEGER UNIQUE, record TEXT NOT NULL)`;

/** The mails of a folder that were read, in a file beside the file of mails. */
export class FolderTable implements Disposable {
  /** The path of a new file; empty for one that was there. */
  readonly #created: string;
  readonly #database: DatabaseSync;

  /** @throws CliError if the file is not such a table. */
  constructor(path: string) {
    this.#created = existsSync(path) ? "" : path;
    try {
      this.#database = openPrivateDatabase(path, (database) => database.exec(tables));
    } catch (error) {
      const problem = printable`${path} is damaged or is no table of a mailbox`;
      throw new CliError(`${problem}; move it away to read the mailbox anew.`, { cause: error });
    }
  }

  /** Closes the table, and removes a new one if no folder was read. */
  [Symbol.dispose](): void {
    const unused = this.state === null ? this.#created : "";
    this.#database.close();
    if (unused !== "") rmSync(unused);
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

  /**
   * Adds mails; one with the id of another mail of the folder gets a number behind it. The ids of mails that
   * are gone are free, since a mail that left may be back.
   */
  async add(mails: readonly (readonly [uid: number, mail: Mail])[], gone: readonly number[] = []) {
    const find = this.#database.prepare("SELECT 1 FROM mail WHERE id = ? AND uid NOT NULL");
    const insert = this.#database.prepare("REPLACE INTO mail VALUES (?, ?, ?)");
    await this.#inTransaction(() => {
      this.#database
        .prepare("UPDATE mail SET uid = NULL WHERE uid IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(gone));
      for (const [uid, mail] of mails) {
        let { id } = mail;
        for (let copy = 2; find.get(id) !== undefined; copy += 1) id = `${mail.id}#${copy}`;
        insert.run(id, uid, JSON.stringify({ ...mail, id }));
      }
    });
  }

  /** Removes mails that are gone, and keeps the state once `write` has written the others. */
  async end(state: FolderState, gone: readonly number[], write: () => Promise<void>) {
    await this.#inTransaction(async () => {
      this.#database
        .prepare("DELETE FROM mail WHERE uid IS NULL OR uid IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(gone));
      this.#keep(state);
      await write();
    });
  }

  /** Returns the records in the order of the folder, from a UID on. */
  *mails(first = 0): Generator<Mail> {
    const rows = this.#database.prepare("SELECT record FROM mail WHERE uid >= ? ORDER BY uid");
    for (const { record } of rows.iterate(first)) yield JSON.parse(String(record)) as Mail;
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

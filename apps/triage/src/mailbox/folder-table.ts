import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CliError, printable } from "evaluator-kit";
import { z } from "zod";
import type { Mail } from "../input/mail-schema.ts";

const stateSchema = z.object({
  account: z.string(),
  folder: z.string(),
  uidvalidity: z.int(),
  /** Null until all mails of the folder are read. */
  uidnext: z.int().nullable(),
  highestmodseq: z.string().nullable(),
  /** The first day of the mails that were read; null for all. */
  since: z.string().nullable(),
  /** Whether the file of mails has them all. */
  isWritten: z.int().transform(Boolean),
});
/** The state of a folder when it was read. */
export type FolderState = z.infer<typeof stateSchema>;
type FolderPlace = Pick<FolderState, "account" | "folder" | "uidvalidity" | "since">;

const tables = `
CREATE TABLE IF NOT EXISTS folder (
  one INTEGER PRIMARY KEY CHECK (one = 1), account TEXT NOT NULL, folder TEXT NOT NULL,
  uidvalidity INTEGER NOT NULL, uidnext INTEGER, highestmodseq TEXT, since TEXT,
  isWritten INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS mail (
  id TEXT PRIMARY KEY, uid INTEGER UNIQUE, record TEXT NOT NULL) WITHOUT ROWID`;

/** The mails of a folder that were read, in a file beside those of a run. */
export class FolderTable implements Disposable {
  readonly #database: DatabaseSync;

  /** @throws CliError if the file is not such a table. */
  constructor(path: string) {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    this.#database = new DatabaseSync(path);
    try {
      this.#database.exec(tables);
    } catch (error) {
      this.#database.close();
      const problem = printable`${path} is damaged or is no table of a mailbox`;
      throw new CliError(`${problem}; move it away to read the mailbox anew.`, { cause: error });
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** Null before the first read. */
  get state(): FolderState | null {
    const row = this.#database.prepare("SELECT * FROM folder").get();
    return row === undefined ? null : stateSchema.parse(row);
  }

  /** The number of mails in the folder. */
  get count(): number {
    return Number(this.#database.prepare("SELECT count(uid) AS count FROM mail").get()?.["count"]);
  }

  /** Returns the known UIDs, in order. */
  uids(): number[] {
    const rows = this.#database.prepare("SELECT uid FROM mail WHERE uid NOT NULL ORDER BY uid");
    return rows.all().map(({ uid }) => Number(uid));
  }

  /** Starts a folder with other UIDs; its mails stay, to be found by id. */
  begin({ account, folder, uidvalidity, since }: FolderPlace): void {
    this.#inTransaction(() => {
      this.#database.exec("UPDATE mail SET uid = NULL");
      this.#database
        .prepare("REPLACE INTO folder VALUES (1, ?, ?, ?, NULL, NULL, ?, 0)")
        .run(account, folder, uidvalidity, since);
    });
  }

  /** Notes that all mails of a folder are read, as of now. */
  end(uidnext: number | null, highestmodseq: string | null, since: string | null): void {
    this.#inTransaction(() => {
      this.#change("DELETE FROM mail WHERE uid IS NULL");
      this.#database
        .prepare("UPDATE folder SET uidnext = ?, highestmodseq = ?, since = ?")
        .run(uidnext, highestmodseq, since);
    });
  }

  /** Notes that the file of mails has all of them. */
  noteWritten(): void {
    this.#database.exec("UPDATE folder SET isWritten = 1");
  }

  /** Adds mails; one with the id of another mail of the folder gets a number behind it. */
  add(mails: readonly (readonly [uid: number, mail: Mail])[]): void {
    const find = this.#database.prepare("SELECT 1 FROM mail WHERE id = ? AND uid NOT NULL");
    const insert = this.#database.prepare("REPLACE INTO mail VALUES (?, ?, ?)");
    this.#inTransaction(() => {
      for (const [uid, mail] of mails) {
        let { id } = mail;
        for (let copy = 2; find.get(id) !== undefined; copy += 1) id = `${mail.id}#${copy}`;
        insert.run(id, uid, JSON.stringify({ ...mail, id }));
      }
      this.#database.exec("UPDATE folder SET isWritten = 0");
    });
  }

  /** Removes mails that are no longer in the folder; returns how many it had. */
  remove(uids: Iterable<number>): number {
    const list = JSON.stringify([...uids]);
    return this.#inTransaction(() =>
      this.#change("DELETE FROM mail WHERE uid IN (SELECT value FROM json_each(?))", list),
    );
  }

  /** Returns the records in the order of the folder. */
  *mails(): Generator {
    const rows = this.#database.prepare("SELECT record FROM mail WHERE uid NOT NULL ORDER BY uid");
    for (const { record } of rows.iterate()) yield JSON.parse(String(record));
  }

  /** Returns the number of changed mails; after a change the file is to be written. */
  #change(sql: string, ...values: readonly (string | number)[]): number {
    const changes = Number(this.#database.prepare(sql).run(...values).changes);
    if (changes > 0) this.#database.exec("UPDATE folder SET isWritten = 0");
    return changes;
  }

  #inTransaction<TResult>(change: () => TResult): TResult {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = change();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

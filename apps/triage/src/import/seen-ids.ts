import { DatabaseSync } from "node:sqlite";

/** Makes ids unique, in a temporary file: a mailbox has more of them than memory should hold. */
export class SeenIds implements Disposable {
  readonly #database = new DatabaseSync("");

  constructor() {
    this.#database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    this.#database.exec("CREATE TABLE seen (id TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID");
  }

  /** Gives the id itself the first time, and `id#2`, `id#3` after it. */
  unique(id: string): string {
    const sql =
      "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count";
    const count = Number(this.#database.prepare(sql).get(id)?.["count"]);
    return count === 1 ? id : this.unique(`${id}#${count}`);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

import { DatabaseSync, type StatementSync } from "node:sqlite";

/** Makes ids unique, in a temporary file: a mailbox has more of them than memory should hold. */
export class SeenIds implements Disposable {
  readonly #database = new DatabaseSync("");
  readonly #count: StatementSync;

  constructor() {
    this.#database.exec("CREATE TABLE seen (id TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID");
    this.#count = this.#database.prepare(
      "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
    );
  }

  /** Returns the id itself the first time, and `id#2`, `id#3` after it. */
  unique(id: string): string {
    const { count } = this.#count.get(id) as { count: number };
    return count === 1 ? id : this.unique(`${id}#${count}`);
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#database.close();
  }
}

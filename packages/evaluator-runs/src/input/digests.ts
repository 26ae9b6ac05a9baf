import process from "node:process";
import { toTemporaryFileError } from "evaluator-kit";

const DIGEST_BYTES = 16;

/** A digest that came before: its index, that of the first equal one, and how many came before it. */
type Repeat = Readonly<Record<"index" | "first" | "repeat", number>>;

/** Finds repeated digests, in memory that does not grow with their number: in a temporary file of SQLite. */
export class RepeatFinder implements Disposable {
  // Loaded at the first use: commands that read no records start without it.
  readonly #database = new (process.getBuiltinModule("node:sqlite").DatabaseSync)("");
  readonly #add;

  constructor() {
    this.#database.exec(`PRAGMA journal_mode = OFF; BEGIN;
      CREATE TABLE digests (number INTEGER PRIMARY KEY, digest BLOB NOT NULL) STRICT`);
    this.#add = this.#database.prepare("INSERT INTO digests (digest) VALUES (?)");
  }

  /** Adds the next digest, of which the first 16 bytes count. */
  add(digest: Uint8Array): void {
    try {
      this.#add.run(digest.subarray(0, DIGEST_BYTES));
    } catch (error) {
      throw toTemporaryFileError(error);
    }
  }

  /** Returns each repeated digest. The repeats of one digest are in order, others in any order. */
  *repeats(): Generator<Repeat> {
    try {
      yield* this.#database.prepare(repeatsStatement).iterate() as unknown as Iterable<Repeat>;
    } catch (error) {
      throw toTemporaryFileError(error);
    }
  }

  /** Removes the temporary file. */
  [Symbol.dispose](): void {
    this.#database.close();
  }
}

// Numbers begin at 1. Only equal digests are numbered, since most inputs have few of them.
const repeatsStatement = `
  SELECT number - 1 AS "index", first - 1 AS first, place - 1 AS repeat FROM (
    SELECT number, min(number) OVER equal AS first, row_number() OVER equal AS place FROM digests
    WHERE digest IN (SELECT digest FROM digests GROUP BY digest HAVING count(*) > 1)
    WINDOW equal AS (PARTITION BY digest ORDER BY number)
  ) WHERE place > 1
`;

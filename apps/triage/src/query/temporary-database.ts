import { constants, DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, printable } from "evaluator-cli-kit";
import type { Cell, QueryTable } from "evaluator-postgres";
import { QueryProblem } from "./query-text.ts";

const types = { text: "TEXT", number: "REAL", json: "TEXT" };
const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } =
  constants;
const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]);

/** As long as a statement in PostgreSQL: SQLite runs in this thread, where nothing else would end it. */
const LONGEST_MS = 60_000;
const ROWS_A_LOOK = 1024;
const ROWS_A_TURN = 1000;

/** Tables in a database of SQLite that is gone with this process; it may be larger than memory. */
export class TemporaryDatabase implements Disposable {
  // Without a name SQLite keeps it in a file that nobody else can open.
  readonly #database = new DatabaseSync("");
  readonly #inserts = new Map<string, StatementSync>();

  readonly #clock: Pick<Clock, "now">;
  #endsAtMs = Number.POSITIVE_INFINITY;

  /** Makes tables without rows. */
  constructor(tables: readonly QueryTable[], clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#limitTime();
    this.#database.exec("BEGIN");
    for (const { name, columns } of tables) {
      const kept = quoted(`kept ${name}`);
      const fields = columns.map((column) => `${quoted(column.name)} ${types[column.type]}`);
      this.#database.exec(`
        CREATE TABLE ${kept} (${fields.join(", ")});
        CREATE VIEW ${quoted(name)} AS SELECT * FROM ${kept} WHERE in_time(rowid)`);
      const values = columns.map(() => "?").join(", ");
      this.#inserts.set(name, this.#database.prepare(`INSERT INTO ${kept} VALUES (${values})`));
    }
  }

  // Called for each row that is read, also by the inner loops of a join: 40 ms for 100,000 of them.
  #limitTime(): void {
    let rows = 0;
    this.#database.function("in_time", (_row: unknown) => {
      rows += 1;
      if (rows % ROWS_A_LOOK === 0 && this.#clock.now() > this.#endsAtMs) {
        throw new QueryProblem("The query took longer than a minute. Ask for less of it.");
      }
      return 1;
    });
  }

  /** Adds a row to a table. */
  add(table: string, cells: readonly Cell[]): void {
    const values = cells.map((cell) => (typeof cell === "boolean" ? Number(cell) : cell));
    this.#inserts.get(table)?.run(...values);
  }

  /**
   * Runs a query; from now on the database is only read.
   *
   * @throws QueryProblem that says what is wrong with the query.
   */
  ask(
    text: string,
    signal: AbortSignal,
  ): { readonly names: readonly string[]; readonly rows: AsyncIterable<Cell[]> } {
    this.#endsAtMs = this.#clock.now() + LONGEST_MS;
    this.#database.exec("COMMIT; PRAGMA query_only = ON");
    this.#database.setAuthorizer((action) => (reading.has(action) ? SQLITE_OK : SQLITE_DENY));
    return naming(() => {
      const statement = this.#database.prepare(text);
      statement.setReturnArrays(true);
      const names = statement.columns().map(({ name }) => name);
      return { names, rows: rowsOf(statement, signal) };
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

async function* rowsOf(statement: StatementSync, signal: AbortSignal): AsyncGenerator<Cell[]> {
  const rows = statement.iterate() as unknown as Iterator<unknown[], undefined>;
  for (let count = 1; ; count += 1) {
    const next = naming(() => rows.next());
    if (next.done === true) return;
    yield next.value.map(toCell);
    if (count % ROWS_A_TURN !== 0) continue;
    await nextTurn();
    signal.throwIfAborted();
  }
}

function toCell(value: unknown): Cell {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : null;
}

const NOT_ALLOWED = 23;

function naming<TResult>(run: () => TResult): TResult {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Error) || !("errcode" in error)) throw error;
    const problem =
      Number(error.errcode) === NOT_ALLOWED
        ? printable`The query would do more than read the tables (${error.message}), and a query only reads.`
        : printable`The query is not one that SQLite can read: ${error.message}.`;
    throw new QueryProblem(problem, { cause: error });
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

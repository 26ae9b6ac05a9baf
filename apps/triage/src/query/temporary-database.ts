import { constants, DatabaseSync, type StatementSync } from "node:sqlite";
import { printable } from "evaluator-cli-kit";
import type { Cell, QueryTable } from "evaluator-postgres";
import { QueryProblem } from "./query-text.ts";

const types = { text: "TEXT", number: "REAL", json: "TEXT" };
const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } =
  constants;
const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]);

/** Tables in a database of SQLite that is gone with this process; it may be larger than memory. */
export class TemporaryDatabase implements Disposable {
  // Without a name SQLite keeps it in a file that nobody else can open.
  readonly #database = new DatabaseSync("");
  readonly #inserts = new Map<string, StatementSync>();

  /** Makes tables without rows. */
  constructor(tables: readonly QueryTable[]) {
    this.#database.exec("BEGIN");
    for (const { name, columns } of tables) {
      const fields = columns.map((column) => `${quoted(column.name)} ${types[column.type]}`);
      this.#database.exec(`CREATE TABLE ${quoted(name)} (${fields.join(", ")})`);
      const values = columns.map(() => "?").join(", ");
      const insert = `INSERT INTO ${quoted(name)} VALUES (${values})`;
      this.#inserts.set(name, this.#database.prepare(insert));
    }
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
  ask(text: string): { readonly names: readonly string[]; readonly rows: Iterable<Cell[]> } {
    this.#database.exec("COMMIT; PRAGMA query_only = ON");
    this.#database.setAuthorizer((action) => (reading.has(action) ? SQLITE_OK : SQLITE_DENY));
    return naming(() => {
      const statement = this.#database.prepare(text);
      statement.setReturnArrays(true);
      const names = statement.columns().map(({ name }) => name);
      return { names, rows: rowsOf(statement) };
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function* rowsOf(statement: StatementSync): Generator<Cell[]> {
  const rows = statement.iterate() as unknown as Iterator<unknown[], undefined>;
  for (;;) {
    const next = naming(() => rows.next());
    if (next.done === true) return;
    yield next.value.map(toCell);
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

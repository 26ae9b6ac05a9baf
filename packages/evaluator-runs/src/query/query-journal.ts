import { basename } from "node:path";
import { CliError, toPrintable } from "evaluator-kit";
import type { QueryCommand } from "../options.ts";
import { inputOf, needJournalAddress } from "../journal-address.ts";
import { type ResultDatabase, type RunResults, withResults } from "../journal-results.ts";
import type { ProgramContext } from "../service.ts";
import { printRows } from "./print-rows.ts";
import { checkQuery, QueryProblem, tookTooLong, tooLarge } from "./query-text.ts";
import {
  cellsOfRecord,
  recordTables,
  runsOfDatabase,
  runsOfFile,
  runsTableOf,
} from "./result-tables.ts";
import { SqliteQuery } from "./sqlite-query.ts";

/**
 * Runs a read-only query over a journal's results, or lists the tables without one, and returns the
 * exit code 0.
 *
 * @throws CliError that names the problem of the query, its place, and the tables.
 */
export async function queryJournal(
  command: QueryCommand,
  context: ProgramContext,
): Promise<number> {
  const { text } = command;
  if (text === undefined) {
    await withResults({ ...command, isOrdered: false }, context, async (results) =>
      listTables(results, command, context),
    );
    return 0;
  }
  await using query = new Query(checkQuery(text), command, context);
  const tables = await withResults({ ...command, isOrdered: false }, context, async (results) =>
    results.database === null
      ? await query.fill(results)
      : await query.askDatabase(results, results.database),
  );
  if (tables !== null) await query.askFile(tables);
  return 0;
}

async function listTables(
  results: RunResults,
  command: QueryCommand,
  context: ProgramContext,
): Promise<void> {
  const rows = [...recordTables(results), runsTableOf(results.source)].flatMap(
    ({ name, columns }) => columns.map((column) => [name, column.name, column.type, column.what]),
  );
  await printRows({ names: ["table", "column", "type", "what"], rows }, command, context);
}

/** A checked query, with its tables and output. */
class Query implements AsyncDisposable {
  readonly #text: string;
  readonly #command: QueryCommand;
  readonly #context: ProgramContext;
  #database: SqliteQuery | null = null;

  constructor(text: string, command: QueryCommand, context: ProgramContext) {
    this.#text = text;
    this.#command = command;
    this.#context = context;
  }

  /** Fills the tables that the query names in a child process from a journal file; returns all tables. */
  async fill(results: RunResults): Promise<readonly ListedTable[]> {
    const { rows, facts } = results;
    const { signal } = this.#context;
    const runsTable = this.#runsTable;
    const address = await needJournalAddress(this.#command, this.#context);
    const tables = recordTables(results);
    const named = tables.filter((table) => this.#names(table));
    await this[Symbol.asyncDispose](); // a journal that was written meanwhile is read again
    const database = (this.#database = new SqliteQuery(this.#context));
    await database.create([...named, runsTable]);
    const name = address.kind === "sqlite" ? basename(inputOf(address, this.#context.source)) : "";
    for (const run of runsOfFile(facts, name))
      await database.add(runsTable.name, this.#cellsOfRun(run));
    if (named.length === 0) return tables;
    for await (const row of rows) {
      signal.throwIfAborted();
      for (const table of named) {
        const cells = cellsOfRecord(row, table);
        if (cells !== null) await database.add(table.name, cells);
      }
    }
    return tables;
  }

  /** Runs the query in SQLite, and prints its rows. */
  async askFile(tables: readonly ListedTable[]): Promise<void> {
    await this.#naming(tables, async () => {
      const result = await this.#database?.ask(this.#text, this.#timeoutMs);
      if (result !== undefined) await printRows(result, this.#command, this.#context);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database?.[Symbol.asyncDispose]();
  }

  /** Runs the query in PostgreSQL, and prints its rows. */
  async askDatabase(results: RunResults, { runs, run, toRow }: ResultDatabase): Promise<null> {
    const tables = recordTables(results);
    const runsTable = this.#runsTable;
    const named = tables.filter((table) => this.#names(table));
    const given = {
      ...runsTable,
      rows: runsOfDatabase(await runs.list()).map((run) => this.#cellsOfRun(run)),
    };
    await this.#naming(tables, () =>
      runs.query(
        {
          text: this.#text,
          run,
          tables: named,
          cellsOf: (row) => {
            const result = toRow(row);
            return named.map((table) => cellsOfRecord(result, table));
          },
          given: [given],
          signal: this.#context.signal,
          timeoutMs: this.#timeoutMs,
          allowSuperuser: this.#command.allowSuperuser ?? false,
        },
        async (result) => {
          if (result.ownsJournal) this.#context.stderr.write(ownerLine);
          await printRows(result, this.#command, this.#context);
        },
      ),
    );
    return null;
  }

  get #runsTable() {
    return runsTableOf(this.#context.source);
  }

  #cellsOfRun(run: ReturnType<typeof runsOfFile>[number]) {
    return this.#runsTable.columns.map(({ of }) => of(run));
  }

  get #timeoutMs(): number {
    return this.#command.timeout * 1000;
  }

  /** Whether the query may read a table; a table that it does not name needs no rows. */
  #names({ name }: { readonly name: string }): boolean {
    return this.#text.toLowerCase().includes(name);
  }

  async #naming(tables: readonly ListedTable[], run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      const failure = error instanceof QueryProblem ? "query" : failureOf(error);
      if (failure === "query-time") throw tookTooLong(this.#timeoutMs);
      if (failure === "query-size") throw tooLarge();
      if (failure === "query-role") throw withOption(error as Error);
      if (!(error instanceof Error) || failure !== "query") throw error;
      const lines = [...tables, this.#runsTable].map(
        ({ name, columns }) => `  ${name}: ${columns.map((column) => column.name).join(", ")}\n`,
      );
      const hint = /ambiguous/.test(error.message)
        ? ` Write whose it is: ${this.#context.source.word}s.NAME.`
        : "";
      throw new CliError(`${error.message}${hint}\nThere are:\n${lines.join("").trimEnd()}`, {
        cause: error,
      });
    }
  }
}

interface ListedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string }[];
}

const ownerLine = "This role owns the journal; a role that only reads is safer.\n";

// By its field: a journal in a file does not load the class.
function failureOf(error: unknown): string | undefined {
  return (error as { failure?: string } | null)?.failure;
}

function withOption({ message }: Error): CliError {
  return new CliError(`${toPrintable(message)}\n--allow-superuser lets this one ask all the same.`);
}

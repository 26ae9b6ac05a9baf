import { basename } from "node:path";
import { CliError } from "evaluator-cli-kit";
import type { QueryCommand } from "../commands.ts";
import { inputOf, needJournalAddress } from "../journal-address.ts";
import { type ResultDatabase, type RunResults, withResults } from "../journal-results.ts";
import type { TriageContext } from "../service.ts";
import { printRows } from "./print-rows.ts";
import { checkQuery, QueryProblem } from "./query-text.ts";
import { cellsOfMail, mailTables } from "./result-tables.ts";
import { runsOfDatabase, runsOfFile, runsTable } from "./runs-table.ts";
import { TemporaryDatabase } from "./temporary-database.ts";

/**
 * Prints what a query of a journal's results comes to, or without one the tables there are; changes
 * nothing, and returns the exit code 0.
 *
 * @throws CliError that says what is wrong with the query, where, and what there is.
 */
export async function queryJournal(command: QueryCommand, context: TriageContext): Promise<number> {
  const { text } = command;
  if (text === null) {
    await withResults({ ...command, isOrdered: false }, context, async (results) =>
      listTables(results, command, context),
    );
    return 0;
  }
  const query = new Query(checkQuery(text), command, context);
  const filled = await withResults({ ...command, isOrdered: false }, context, async (results) =>
    results.database === null
      ? await query.fill(results)
      : await query.askDatabase(results, results.database),
  );
  if (filled !== null) await query.askFile(filled);
  return 0;
}

async function listTables(
  { fields }: RunResults,
  command: QueryCommand,
  context: TriageContext,
): Promise<void> {
  const rows = [...mailTables(fields), runsTable].flatMap(({ name, columns }) =>
    columns.map((column) => [name, column.name, column.type, column.what]),
  );
  await printRows({ names: ["table", "column", "type", "what"], rows }, command, context);
}

/** A query that is fine at first sight, and where its rows go. */
class Query {
  readonly #text: string;
  readonly #command: QueryCommand;
  readonly #context: TriageContext;

  constructor(text: string, command: QueryCommand, context: TriageContext) {
    this.#text = text;
    this.#command = command;
    this.#context = context;
  }

  /** Returns the tables of a journal file that the query names. */
  async fill({ rows, fields, facts }: RunResults): Promise<FilledTables> {
    const { signal, clock } = this.#context;
    const address = await needJournalAddress(this.#command, this.#context);
    const tables = mailTables(fields);
    const named = tables.filter((table) => this.#names(table));
    const database = new TemporaryDatabase([...named, runsTable], clock);
    const name = address.kind === "sqlite" ? basename(inputOf(address)) : "";
    for (const run of runsOfFile(facts, name)) {
      database.add(runsTable.name, cellsOfRun(run));
    }
    if (named.length > 0) {
      for await (const row of rows) {
        signal.throwIfAborted();
        for (const table of named) {
          const cells = cellsOfMail(row, table);
          if (cells !== null) database.add(table.name, cells);
        }
      }
    }
    return { database, tables };
  }

  /** Prints what the query comes to in SQLite. */
  async askFile({ database, tables }: FilledTables): Promise<void> {
    using asked = database;
    await this.#naming(tables, async () => {
      const { signal } = this.#context;
      await printRows(asked.ask(this.#text, signal), this.#command, this.#context);
    });
  }

  /** Prints what the query comes to in PostgreSQL. */
  async askDatabase({ fields }: RunResults, { runs, run, toRow }: ResultDatabase): Promise<null> {
    const tables = mailTables(fields);
    const named = tables.filter((table) => this.#names(table));
    const given = { ...runsTable, rows: runsOfDatabase(await runs.list()).map(cellsOfRun) };
    await this.#naming(tables, () =>
      runs.query(
        {
          text: this.#text,
          run,
          tables: named,
          cellsOf: (row) => {
            const result = toRow(row);
            return named.map((table) => cellsOfMail(result, table));
          },
          given: [given],
          signal: this.#context.signal,
        },
        (result) => printRows(result, this.#command, this.#context),
      ),
    );
    return null;
  }

  /** Whether the query may read a table: what it does not name needs no rows. */
  #names({ name }: { readonly name: string }): boolean {
    return this.#text.toLowerCase().includes(name);
  }

  async #naming(tables: readonly ListedTable[], run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!isQueryError(error)) throw error;
      const lines = [...tables, runsTable].map(
        ({ name, columns }) => `  ${name}: ${columns.map((column) => column.name).join(", ")}\n`,
      );
      const hint = /ambiguous/.test(error.message) ? " Write whose it is: mails.NAME." : "";
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

interface FilledTables {
  readonly database: TemporaryDatabase;
  readonly tables: readonly ListedTable[];
}

function cellsOfRun(run: Parameters<(typeof runsTable.columns)[number]["cellOf"]>[0]) {
  return runsTable.columns.map(({ cellOf }) => cellOf(run));
}

// By its name: the class is in the library that a journal in a file does not load.
function isQueryError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof QueryProblem || (error as Error & { failure?: string }).failure === "query"
  );
}

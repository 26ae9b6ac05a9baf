import {
  type CliContext,
  CliError,
  columnsOf,
  printable,
  printTexts,
  toPrintable,
  truncateCharacters,
  truncateColumns,
} from "evaluator-kit";
import { printCount, printCounted } from "../amounts.ts";
import { alignColumns } from "../columns/table.ts";
import type { FileCommand } from "../options.ts";
import type { OutputFormat } from "../shared-options.ts";
import { formatRecords, toSafeTexts } from "../output/write-records.ts";
import type { ResultRow } from "../columns/columns.ts";
import { type RunResults, withResults } from "../journal-results.ts";
import type { Cell, QueryResult, QueryTable } from "../store/run-query.ts";
import type { ProgramContext } from "../service.ts";
import { queryTables } from "./result-tables.ts";
import { SqliteQuery } from "./sqlite-query.ts";

/** The most rows of a table, and about the most characters. */
const ROWS_SHOWN = 1000;
const CHARACTERS_SHOWN = 2_000_000;
/** The most columns of a terminal for one cell. */
const CELL_COLUMNS = 80;

type QueryCommand = FileCommand<"query"> & { readonly text?: string | undefined };

/** Runs a read-only query over a journal's results, or lists the tables without one; returns the exit code 0. */
export async function queryJournal(
  command: QueryCommand,
  context: ProgramContext,
): Promise<number> {
  const resultsCommand = { ...command, isOrdered: false };
  if (command.text === undefined) {
    await withResults(resultsCommand, context, (results) => listTables(results, command, context));
    return 0;
  }
  const query = { ...command, text: checkQuery(command.text) };
  let database: SqliteQuery | null = null;
  try {
    const tables = await withResults(resultsCommand, context, async (results) => {
      if (results.ask === null) {
        return await fill((database ??= new SqliteQuery(context)), results, { query, context });
      }
      await askDatabase(results, query, context);
      return null;
    });
    if (database !== null && tables !== null) await askTables(database, { tables, query, context });
  } finally {
    await (database as SqliteQuery | null)?.[Symbol.asyncDispose]();
  }
  return 0;
}

/** Runs the query over the tables of a journal file, which is closed by now. */
async function askTables(database: SqliteQuery, askedRequest: Asked): Promise<void> {
  const { query, context } = askedRequest;
  await explained(askedRequest, async () => {
    const result = await database.ask(query.text, query.timeout * 1000);
    await printRows(result, query, context);
  });
}

const readingWords = new Set(["select", "with", "values"]);
const nextStep = '"query" alone prints the tables and columns.';

/** Parts of a query that contain no SQL words: comments, texts and quoted names. */
const passages = /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'[^']*'?|"[^"]*"?|`[^`]*`?/g;

/** Checks that a query is one reading statement, and returns it without the semicolon at its end. */
function checkQuery(text: string): string {
  // Of the same length: comments as spaces, and quoted parts as x.
  const bare = text.replace(passages, (passage) => {
    return (/^(?:--|\/\*)/.test(passage) ? " " : "x").repeat(passage.length);
  });
  const end = bare.indexOf(";");
  const rest = end === -1 ? "" : bare.slice(end + 1);
  const second = rest.search(/[^\s;]/);
  if (second !== -1) {
    const start = end + 1 + second;
    throw new CliError(
      printable`A query is one statement; a second begins at character ${String(start + 1)} ("${shown(text.slice(start))}"). Run them one by one.`,
    );
  }
  const [word = ""] = /[^\s(;]\w*/.exec(bare) ?? [];
  if (word === "") throw new CliError(`The query is empty. ${nextStep}`);
  if (!readingWords.has(word.toLowerCase())) {
    throw new CliError(
      printable`A query begins with select, with or values, not "${shown(word)}". ` + nextStep,
    );
  }
  return end === -1 ? text : text.slice(0, end);
}

function shown(text: string): string {
  return truncateCharacters(toPrintable(text), 30);
}

async function listTables(
  results: RunResults,
  command: QueryCommand,
  context: ProgramContext,
): Promise<void> {
  const { records, runs } = queryTables(results);
  const rows = [...records, runs].flatMap(({ name, columns }) =>
    columns.map((column) => [name, column.name, column.type]),
  );
  await printRows({ names: ["table", "column", "type"], rows }, command, context);
}

/** A command with a checked query. */
type Query = QueryCommand & { readonly text: string };

/** Returns all tables of results, and those of records that a query may read; others need no rows. */
async function tablesFor({ text }: Query, results: RunResults) {
  const { records, runs } = queryTables(results);
  const namedTables = records.filter(({ name }) => text.toLowerCase().includes(name));
  const runTable = { ...runs, rows: (await results.listRuns()).map(runs.cellsOf) };
  return { named: namedTables, given: runTable, all: [...records, runs] };
}

/** Fills the tables of a query from a journal file, and returns all tables. */
async function fill(
  database: SqliteQuery,
  results: RunResults,
  { query, context }: { readonly query: Query; readonly context: ProgramContext },
): Promise<readonly QueryTable[]> {
  const { named: namedTables, given: runTable, all } = await tablesFor(query, results);
  const add = database.create([...namedTables, runTable]);
  for (const cells of runTable.rows) add(runTable.name, cells);
  if (namedTables.length === 0) return all;
  for await (const row of results.rows) {
    context.signal.throwIfAborted();
    for (const table of namedTables) {
      const cells = table.cellsOf(row);
      if (cells !== null) add(table.name, cells);
    }
  }
  return all;
}

/** Runs the query in PostgreSQL, and prints its rows. */
async function askDatabase(
  results: RunResults,
  query: Query,
  context: ProgramContext,
): Promise<void> {
  const { named: namedTables, given: runTable, all } = await tablesFor(query, results);
  const request = {
    text: query.text,
    tables: namedTables,
    cellsOf: (row: ResultRow) => namedTables.map((table) => table.cellsOf(row)),
    given: [runTable],
    signal: context.signal,
    timeoutMs: query.timeout * 1000,
    allowSuperuser: query.allowSuperuser ?? false,
  };
  const print = async (result: QueryResult) => {
    if (result.ownsJournal) {
      context.stderr.write("This role owns the journal; a read-only role is safer.\n");
    }
    await printRows(result, query, context);
  };
  await explained({ tables: all, query, context }, async () => results.ask?.(request, print));
}

interface Asked {
  readonly tables: readonly QueryTable[];
  readonly query: Query;
  readonly context: ProgramContext;
}

/** Runs a query; its error names the next step, or the tables that there are. */
async function explained({ tables, query, context }: Asked, run: () => Promise<void>) {
  try {
    await run();
  } catch (error) {
    // By its field: a journal in a file does not load the class.
    const { failure, message } = error as Error & { readonly failure?: string };
    const problem = failure === undefined ? undefined : problems[failure];
    if (problem !== undefined) throw new CliError(problem(query, toPrintable(message)));
    if (failure !== "query") throw error;
    const lines = tables.map(
      ({ name, columns }) => `  ${name}: ${columns.map((column) => column.name).join(", ")}\n`,
    );
    const hint = /ambiguous/.test(message) ? ` Write ${context.source.word}s.NAME.` : "";
    throw new CliError(`${message}${hint}\nThere are:\n${lines.join("").trimEnd()}`, {
      cause: error,
    });
  }
}

const problems: Readonly<Record<string, (query: Query, message: string) => string>> = {
  "query-time": ({ timeout }) =>
    `The query took over ${printCounted(timeout, "second")}. Ask for less, or set --timeout.`,
  "query-size": () =>
    "A value is over 1 MB, or a row over 2 MB. Ask for a part, such as substr(snippet, 1, 1000).",
  "query-role": (_, message) => `${message}\n--allow-superuser allows it.`,
};

interface QueryRows {
  readonly names: readonly string[];
  readonly rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>;
}

/** Prints the allowed rows: as a table on a terminal, else as CSV, unless a format is named. */
async function printRows(
  { names, rows }: QueryRows,
  { format, rows: most }: Pick<QueryCommand, "format" | "rows">,
  context: Pick<CliContext, "stdout" | "signal">,
): Promise<void> {
  const { stdout } = context;
  let isCut = false;
  const allowed = async function* allowed() {
    let count = 0;
    for await (const row of rows) {
      isCut = count === most;
      if (isCut) return;
      count += 1;
      yield row;
    }
  };
  const printedRows = { names, rows: allowed() };
  const chosenFormat = format ?? (stdout.isTTY === true ? "table" : "csv");
  const texts =
    chosenFormat === "table"
      ? toTable(printedRows, (stdout.isTTY === true && stdout.columns) || undefined)
      : listRecords(printedRows, chosenFormat);
  await printTexts(texts, context);
  if (!isCut) return;
  throw new CliError(`The result has over ${printCount(most)} rows; raise --rows.`);
}

function listRecords({ names, rows }: QueryRows, format: OutputFormat): AsyncGenerator<string> {
  const unique = names.map((name, at) => (names.indexOf(name) === at ? name : `${name}_${at + 1}`));
  const records = async function* records() {
    for await (const row of rows) {
      yield Object.fromEntries(unique.map((name, at) => [name, row[at] ?? null]));
    }
  };
  return toSafeTexts(formatRecords(records(), { format, names: unique }), { format });
}

async function* toTable({ names, rows }: QueryRows, width?: number): AsyncGenerator<string> {
  const shownNameLists: string[][] = [names.map(toPrintable)];
  let [more, characters] = [0, 0];
  for await (const row of rows) {
    if (more > 0 || shownNameLists.length > ROWS_SHOWN || characters > CHARACTERS_SHOWN) {
      more += 1;
      continue;
    }
    const cells = row.map(toText);
    shownNameLists.push(cells);
    characters += cells.join("").length;
  }
  const widest = names.map((_, at) =>
    Math.max(...shownNameLists.map((row) => columnsOf(row[at] ?? ""))),
  );
  // Wide columns are narrowed first.
  yield* alignColumns(() => shownNameLists, {
    width,
    shareOf: (at) => Number((widest[at] ?? 0) > 12),
  });
  if (more > 0) yield `${printCounted(more, "more row")}; --format csv prints them all.\n`;
}

function toText(cell: Cell): string {
  return cell === null ? "-" : truncateColumns(toPrintable(String(cell)), CELL_COLUMNS);
}

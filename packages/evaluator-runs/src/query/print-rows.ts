import {
  type CliContext,
  CliError,
  columnsOf,
  printTexts,
  toPrintable,
  truncateColumns,
} from "evaluator-kit";
import type { Cell } from "../postgres/index.ts";
import { printCount } from "../amounts.ts";
import type { OutputFormat, QueryCommand } from "../options.ts";
import { formatRecords, toSafeTexts } from "../output/write-records.ts";
import { alignColumns } from "../columns/table.ts";

/** The most rows of a table, and about the most characters. */
const ROWS_SHOWN = 1000;
const CHARACTERS_SHOWN = 2_000_000;
/** The most columns of a terminal for one cell. */
const CELL_COLUMNS = 80;

/** The result of a query. */
interface QueryRows {
  readonly names: readonly string[];
  readonly rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>;
}

/**
 * Prints rows: as a table on a terminal, else as CSV, unless a format is named.
 *
 * @throws CliError after the allowed rows if there are more.
 */
export async function printRows(
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
  const printed = { names, rows: allowed() };
  const chosen = format ?? (stdout.isTTY === true ? "table" : "csv");
  const texts =
    chosen === "table"
      ? tableOf(printed, stdout.isTTY === true ? stdout.columns : undefined)
      : recordsOf(printed, chosen);
  await printTexts(texts, context);
  if (!isCut) return;
  throw new CliError(`The result has more than ${printCount(most)} rows; --rows allows more.`);
}

function recordsOf({ names, rows }: QueryRows, format: OutputFormat): AsyncGenerator<string> {
  const unique = names.map((name, at) => (names.indexOf(name) === at ? name : `${name}_${at + 1}`));
  const records = async function* records() {
    for await (const row of rows) {
      yield Object.fromEntries(unique.map((name, at) => [name, row[at] ?? null]));
    }
  };
  return toSafeTexts(formatRecords(records(), { format, names: unique }), { format });
}

async function* tableOf({ names, rows }: QueryRows, width?: number): AsyncGenerator<string> {
  const shown: string[][] = [names.map(toPrintable)];
  let [more, characters] = [0, 0];
  for await (const row of rows) {
    if (more > 0 || shown.length > ROWS_SHOWN || characters > CHARACTERS_SHOWN) {
      more += 1;
      continue;
    }
    const cells = row.map(toText);
    shown.push(cells);
    characters += cells.join("").length;
  }
  const widest = names.map((_, at) => Math.max(...shown.map((row) => columnsOf(row[at] ?? ""))));
  // Wide columns are narrowed first.
  yield* alignColumns(() => shown, { width, shareOf: (at) => Number((widest[at] ?? 0) > 12) });
  if (more > 0) yield `${printCount(more)} more rows; --format csv prints them all.\n`;
}

function toText(cell: Cell): string {
  return cell === null ? "-" : truncateColumns(toPrintable(String(cell)), CELL_COLUMNS);
}

import {
  type CliContext,
  columnsOf,
  printTexts,
  toPrintable,
  truncateColumns,
} from "evaluator-cli-kit";
import type { Cell } from "evaluator-postgres";
import { printCount } from "../amounts.ts";
import type { QueryCommand } from "../commands.ts";
import { formatRecords, toSafeTexts } from "../output/write-records.ts";
import { alignColumns } from "../table.ts";

/** A terminal shows so many rows; a file takes them all. */
const ROWS_SHOWN = 200;
/** The most columns of a terminal that a cell takes, however wide it is. */
const CELL_COLUMNS = 80;

/** What a query came to. */
export interface QueryRows {
  readonly names: readonly string[];
  readonly rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>;
}

/** Prints rows: as a table on a terminal, else as CSV, unless a format is named. */
export async function printRows(
  { names, rows }: QueryRows,
  { format }: Pick<QueryCommand, "format">,
  context: Pick<CliContext, "stdout" | "signal">,
): Promise<void> {
  const { stdout } = context;
  const chosen = format ?? (stdout.isTTY === true ? "table" : "csv");
  if (chosen === "table") {
    await printTexts(
      tableOf({ names, rows }, stdout.isTTY === true ? stdout.columns : undefined),
      context,
    );
    return;
  }
  const unique = names.map((name, at) => (names.indexOf(name) === at ? name : `${name}_${at + 1}`));
  const records = async function* records() {
    for await (const row of rows) {
      yield Object.fromEntries(unique.map((name, at) => [name, row[at] ?? null]));
    }
  };
  const texts = formatRecords(records(), { format: chosen, names: unique });
  await printTexts(toSafeTexts(texts, { format: chosen }), context);
}

async function* tableOf({ names, rows }: QueryRows, width?: number): AsyncGenerator<string> {
  const shown: string[][] = [names.map(toPrintable)];
  let more = 0;
  for await (const row of rows) {
    if (shown.length <= ROWS_SHOWN) shown.push(row.map(toText));
    else more += 1;
  }
  const widest = names.map((_, at) => Math.max(...shown.map((row) => columnsOf(row[at] ?? ""))));
  // What is wide gives way to what is narrow.
  yield* alignColumns(() => shown, { width, shareOf: (at) => Number((widest[at] ?? 0) > 12) });
  if (more > 0) yield `${printCount(more)} more rows; --format csv prints them all.\n`;
}

function toText(cell: Cell): string {
  return cell === null ? "-" : truncateColumns(toPrintable(String(cell)), CELL_COLUMNS);
}

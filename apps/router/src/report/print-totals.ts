import { readRecords } from "./read-records.ts";
import { Totals, totalsHead } from "./totals.ts";

/** Returns the totals of a decision log as lines for a terminal. @throws CliError without the file. */
export async function printTotals(path: string): Promise<string> {
  const totals = new Totals();
  let unreadable = 0;
  for await (const record of readRecords(path)) {
    if (record === null) unreadable += 1;
    else totals.add(record);
  }
  const tables = totals
    .tables()
    .map(({ name, rows }) => textTable([[name, ...totalsHead], ...rows]));
  const invalid = `Lines passed over because they are no records: ${unreadable}`;
  const parts = [totals.describe(), ...tables, ...(unreadable === 0 ? [] : [invalid])];
  return `${parts.join("\n\n")}\n`;
}

/** Returns rows in columns. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)));
  const print = (cell: string, at: number) => cell.padEnd(widths?.[at] ?? 0);
  return rows.map((cells) => `  ${cells.map(print).join("  ").trimEnd()}`).join("\n");
}

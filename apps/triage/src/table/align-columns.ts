import stringWidth from "string-width";
import { isPlainAscii } from "../text/is-plain-ascii.ts";

/** Rows of cells; they are gone through twice, so that no more than one is held. */
export type TableRows = () => Iterable<readonly string[]>;

/** Lays rows of cells out in columns, left-aligned by terminal width, one line for each row. */
export function* alignColumns(rows: TableRows): Generator<string> {
  const widths: number[] = [];
  for (const row of rows()) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    }
  }
  for (const row of rows()) {
    const cells = row.map((cell, column) => padded(cell, widths[column] ?? 0));
    yield `${cells.join("  ").trimEnd()}\n`;
  }
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(width - widthOf(cell));
}

function widthOf(cell: string): number {
  return isPlainAscii(cell) ? cell.length : stringWidth(cell);
}

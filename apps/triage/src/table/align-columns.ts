import stringWidth from "string-width";

/** Lays rows of cells out in columns, left-aligned by terminal width, one line for each row. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(widest, []);
  return rows.map((row) => `${toLine(row, widths)}\n`).join("");
}

function widest(widths: readonly number[], row: readonly string[]): number[] {
  return row.map((cell, column) => Math.max(widths[column] ?? 0, stringWidth(cell)));
}

function toLine(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => padded(cell, widths[column] ?? 0))
    .join("  ")
    .trimEnd();
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(width - stringWidth(cell));
}

import { markdownTable } from "markdown-table";
import type { ReportTable } from "./section.ts";

/** Prints a table as Markdown, so that it can go into a document as it is. */
export function printTable({ title, columns, rows, note }: ReportTable): string {
  const align = columns.map((_, column) => (column === 0 ? "left" : "right"));
  const table = markdownTable([columns, ...rows], { align });
  return `${title}\n\n${table}\n${note === undefined ? "" : `\n${note}\n`}\n`;
}

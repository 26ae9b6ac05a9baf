import type { AnswerField } from "../output/answer-fields.ts";
import type { TriageRecord } from "../output/triage-record.ts";
import { cutGraphemes } from "../text/cut-graphemes.ts";
import { plainText } from "../text/plain-text.ts";
import { alignColumns } from "./align-columns.ts";
import { paintCell } from "./paint-cell.ts";
import { sortRecords } from "./sort-records.ts";
import { type TableColumn, tableColumns } from "./table-columns.ts";

/** How a table is printed. */
export interface TableOptions {
  readonly fields: readonly AnswerField[];
  /** The field it is sorted by. @default importance, else the first score */
  readonly sort?: string | null;
  /** How many rows to print. @default all */
  readonly top?: number;
  /** Whether colours are wanted. @default false */
  readonly colours?: boolean;
}

/** Gives the lines of the table a person reads: the most important mail first, input order among equals. */
export function triageTable(
  records: readonly TriageRecord[],
  { fields, sort = null, top = Number.POSITIVE_INFINITY, colours = false }: TableOptions,
): Generator<string> {
  const columns = tableColumns(fields);
  const headings = columns.map(({ heading }) => plainText(heading));
  const sorted = sortRecords(records, sort ?? defaultSort(fields));
  const shown = sorted.slice(0, top);
  return alignColumns(function* rows() {
    yield [...headings, "date", "from", "subject"];
    for (const record of shown) yield toRow(record, { columns, colours });
  });
}

function defaultSort(fields: readonly AnswerField[]): string {
  if (fields.some(({ field }) => field === "importance")) return "importance";
  return fields.find(({ type }) => type === "score")?.field ?? "";
}

function toRow(
  record: TriageRecord,
  { columns, colours }: { columns: readonly TableColumn[]; colours: boolean },
): string[] {
  const answers = columns.map(({ field }) => {
    const value = record[field] ?? null;
    return colours ? paintCell(toCell(value), field, value) : toCell(value);
  });
  const { date, from, subject } = record;
  const [sender, title] = [cutGraphemes(plainText(from), 28), cutGraphemes(plainText(subject), 60)];
  return [...answers, date, sender, title];
}

function toCell(value: string | number | null): string {
  if (value === null) return "-";
  return typeof value === "number" ? value.toFixed(2) : cutGraphemes(plainText(value), 40);
}

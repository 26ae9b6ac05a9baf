import { styleText } from "node:util";
import {
  columnsOf,
  printable,
  toPrintable,
  truncateCharacters,
  truncateColumns,
  UsageError,
} from "evaluator-kit";
import { describeDateGap, receivedDay } from "./input/mail.ts";
import type { TriageRecord } from "./output/write-records.ts";
import type { AnswerField } from "./questions/answer-fields.ts";

const GAP = "  ";
/** Characters that a text column keeps on a narrow terminal; below that the other columns shrink too. */
const NARROWEST_TEXT = 4;

/** A terminal shows so many rows of a table with more than so many. */
const ROWS_SHOWN = 50;
const ROWS_AT_MOST = 200;

/** From which value on a cell stands out. */
const thresholds: Readonly<Record<string, number>> = { importance: 4, scam: 0.5, brandDeal: 0.5 };

/** A column of answers, and the output field it shows. */
interface AnswerColumn {
  readonly heading: string;
  readonly field: string;
  readonly isText?: boolean;
}

const contractColumns: readonly AnswerColumn[] = [
  { heading: "imp", field: "importance" },
  { heading: "conf", field: "importanceConf" },
  { heading: "scam", field: "scam" },
  { heading: "deal", field: "brandDeal" },
  { heading: "category", field: "category", isText: true },
];

/** The terminal a table is printed on. */
export interface TableTerminal {
  /** No row is wider. @default the rows are as wide as they are */
  readonly width?: number | undefined;
  readonly colours: boolean;
  /** The name of the file that has every row. */
  readonly fileName: string;
}

/** A record, and when its mail was received if that is known. */
export interface TableRow {
  readonly record: TriageRecord;
  readonly received?: string | undefined;
}

/** How a table is printed. */
export interface TableOptions {
  readonly fields: readonly AnswerField[];
  /** The field it is sorted by. @default importance, else the first score */
  readonly sort?: string | null;
  /** The mails that are marked as new. @default none */
  readonly newIds?: ReadonlySet<string>;
  /** How many rows to print. @default all; on a terminal 50 when there are more than 200 */
  readonly top?: number;
  /** @default none: every row as wide as the contract has it (section 4.7) */
  readonly terminal?: TableTerminal | null;
}

/** Returns the lines of the table a person reads: the most important mail first, input order among equals. */
export function* triageTable(
  records: readonly TableRow[],
  {
    fields,
    sort = null,
    newIds = new Set(),
    top = Number.POSITIVE_INFINITY,
    terminal = null,
  }: TableOptions,
): Generator<string> {
  const columns = answerColumns(fields);
  const isLong = terminal !== null && top === Number.POSITIVE_INFINITY;
  const count = isLong && records.length > ROWS_AT_MOST ? ROWS_SHOWN : top;
  const shown = sortRecords(records, sort ?? defaultSort(fields)).slice(0, count);
  // Without a heading, so that those of the contract stay as they are.
  const marks = shown.some((row) => markOf(row, newIds) !== "") ? [""] : [];
  const rows = function* rows() {
    const headings = columns.map(({ heading }) => toPrintable(heading));
    yield [...headings, "date", ...marks, "from", "subject"];
    for (const row of shown) {
      const mark = markOf(row, newIds);
      yield toRow(row.record, { columns, marks: marks.map(() => mark) });
    }
  };
  const texts = columns.length + marks.length;
  const isText = (column: number) => columns[column]?.isText ?? column > texts;
  yield* alignColumns(rows, {
    width: terminal?.width,
    shareOf: (column) => (column === texts + 2 ? 2 : Number(isText(column))),
    paint: terminal?.colours ? (cell, column) => paint(cell, columns[column]?.field) : undefined,
  });
  if (terminal !== null && count < top) yield restLine(records.length, terminal);
}

/** Throws a UsageError for a field to sort by that the results do not have. */
export function checkSort(
  { sort }: { readonly sort: string | null },
  fields: readonly AnswerField[],
): void {
  const names = ["id", "date", "from", "subject", ...fieldNames(fields)];
  if (sort === null || names.includes(sort)) return;
  throw new UsageError(printable`--sort takes one of ${names.join(", ")}`);
}

/** Rows of cells; they are gone through twice, so that no more than one is held. */
export type TableRows = () => Iterable<readonly string[]>;

/** How columns are laid out. */
export interface ColumnOptions {
  /** No line takes more columns of a terminal. @default the lines are as wide as they are */
  readonly width?: number | undefined;
  /** Returns a column's share where room is scarce; 0 gives nothing up at first. @default 0 */
  readonly shareOf?: (column: number) => number;
  /** Returns a cell as it is printed, in the same width. @default the cell itself */
  readonly paint?: ((cell: string, column: number) => string) | undefined;
}

/** Returns rows of printable cells laid out in columns, left-aligned, one line for each row. */
export function* alignColumns(
  rows: TableRows,
  { width = Number.POSITIVE_INFINITY, shareOf = () => 0, paint }: ColumnOptions = {},
): Generator<string> {
  const widths = fitted(widthsOf(rows), { width, shareOf });
  for (const row of rows()) {
    const cells = widths.map((columns, column) => {
      const cell = truncateColumns(row[column] ?? "", columns);
      return (paint?.(cell, column) ?? cell) + " ".repeat(columns - columnsOf(cell));
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

function widthsOf(rows: TableRows): number[] {
  const widths: number[] = [];
  for (const row of rows()) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, columnsOf(cell));
    }
  }
  return widths;
}

/** Narrows the widest columns, those with a share first; leaves the last out where nothing helps. */
function fitted(
  widths: readonly number[],
  { width, shareOf }: { width: number; shareOf: (column: number) => number },
): number[] {
  const texts = narrowed(widths, { width, narrowest: NARROWEST_TEXT, shareOf });
  const all = narrowed(texts, { width, narrowest: 1, shareOf: () => 1 });
  while (all.length > 1 && lineWidth(all) > width) all.pop();
  return all;
}

function narrowed(
  widths: readonly number[],
  options: { width: number; narrowest: number; shareOf: (column: number) => number },
): number[] {
  const { width, narrowest, shareOf } = options;
  const cut = (most: number) =>
    widths.map((columns, column) => Math.min(columns, most * (shareOf(column) || columns)));
  let most = Math.max(narrowest, ...widths);
  while (most > narrowest && lineWidth(cut(most)) > width) most -= 1;
  return cut(most);
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, columns) => sum + columns, 0) + GAP.length * (widths.length - 1);
}

// The contract's columns (section 4.7) for its questions, and all fields of any others.
function answerColumns(fields: readonly AnswerField[]): readonly AnswerColumn[] {
  const names = fieldNames(fields);
  const hasContract = contractColumns.every(({ field }) => names.includes(field));
  const fixed = hasContract ? contractColumns : [];
  const others = fields.filter(({ field }) => fixed.every((column) => column.field !== field));
  const texts = new Set(others.filter(({ type }) => type === "choice").map(({ field }) => field));
  const own = fieldNames(others).map((field) => {
    return { heading: field, field, isText: texts.has(field) };
  });
  return [...fixed, ...own];
}

function fieldNames(fields: readonly AnswerField[]): string[] {
  return fields.flatMap(({ field, confidenceField }) =>
    confidenceField === null ? [field] : [field, confidenceField],
  );
}

function defaultSort(fields: readonly AnswerField[]): string {
  if (fields.some(({ field }) => field === "importance")) return "importance";
  return fields.find(({ type }) => type === "score")?.field ?? "";
}

function markOf({ record, received }: TableRow, newIds: ReadonlySet<string>): string {
  const isNew = newIds.has(record.id) ? ["new"] : [];
  return [...isNew, describeDateGap({ ...record, received })].filter(Boolean).join(", ");
}

/** Sorts by a field: numbers from the highest, text from A, what is missing last, else input order. */
function sortRecords(rows: readonly TableRow[], field: string): TableRow[] {
  const valueOf = ({ record, received }: TableRow) =>
    field === "date" ? receivedDay({ ...record, received }) : (record[field] ?? null);
  return rows.toSorted((one, other) => compare(valueOf(one), valueOf(other)));
}

function compare(one: string | number | null, other: string | number | null): number {
  if (typeof one === "number" && typeof other === "number") return other - one;
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return one < other ? -1 : Number(one > other);
}

function toRow(
  record: TriageRecord,
  { columns, marks }: { columns: readonly AnswerColumn[]; marks: readonly string[] },
): string[] {
  const { date, from, subject } = record;
  const sender = truncateCharacters(toPrintable(from), 28);
  const title = truncateCharacters(toPrintable(subject), 60);
  return [
    ...columns.map(({ field }) => toCell(record[field] ?? null)),
    date,
    ...marks,
    sender,
    title,
  ];
}

function toCell(value: string | number | null): string {
  if (value === null) return "-";
  return typeof value === "number" ? value.toFixed(2) : truncateCharacters(toPrintable(value), 40);
}

function paint(cell: string, field: string | undefined): string {
  const threshold = field !== undefined && Object.hasOwn(thresholds, field) && thresholds[field];
  if (!threshold || !(Number(cell) >= threshold)) return cell;
  return styleText(field === "scam" ? "red" : "yellow", cell, { validateStream: false });
}

function restLine(rows: number, { fileName, width }: TableTerminal): string {
  const rest = `${rows - ROWS_SHOWN} more rows: --top ${rows} prints them all; they are in `;
  return `${truncateColumns(rest + toPrintable(fileName), width ?? Number.POSITIVE_INFINITY)}\n`;
}

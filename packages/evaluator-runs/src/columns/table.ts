import { styleText } from "node:util";
import {
  columnsOf,
  printable,
  toPrintable,
  truncateCharacters,
  truncateColumns,
  UsageError,
} from "evaluator-kit";
import type { RecordSource, RunRecord, ShortHeading, TableLayout } from "../input/record-source.ts";
import type { ResultRecord } from "../output/write-records.ts";
import { type AnswerColumn, answerColumns, type Column, recordNames } from "./columns.ts";

const GAP = "  ";
/** Characters that a text column keeps on a narrow terminal before other columns shrink too. */
const NARROWEST_TEXT = 4;

/** A terminal shows 50 rows of a table with more than 200. */
const ROWS_SHOWN = 50;
const ROWS_AT_MOST = 200;

/** The terminal a table is printed on. */
export interface TableTerminal {
  /** The most columns of a row. @default no limit */
  readonly width?: number | undefined;
  readonly colours: boolean;
  /** The name of the file that has every row. */
  readonly fileName: string;
}

/** A result, its day, and its mark. */
export interface TableRow {
  readonly record: ResultRecord;
  readonly day: string;
  readonly mark: string;
}

/** Returns the row of a result. */
export function toTableRow(
  input: RunRecord,
  record: ResultRecord,
  source: Pick<RecordSource, "dayOf" | "markOf">,
): TableRow {
  return { record, day: source.dayOf(input), mark: source.markOf(input) };
}

/** How a table is printed. */
export interface TableOptions {
  readonly columns: readonly Column[];
  readonly layout: TableLayout;
  /** The field it is sorted by. @default importance, else the first score */
  readonly sort?: string | undefined;
  /** The records that are marked as new. @default none */
  readonly newIds?: ReadonlySet<string>;
  /** How many rows to print. @default all; on a terminal 50 when there are more than 200 */
  readonly top?: number;
  /** @default none, with rows of any width */
  readonly terminal?: TableTerminal | null;
}

/** Returns the lines of the table a person reads: the most important record first, input order among equals. */
export function* resultTable(
  records: readonly TableRow[],
  {
    columns: all,
    layout,
    sort,
    newIds = new Set(),
    top = Number.POSITIVE_INFINITY,
    terminal = null,
  }: TableOptions,
): Generator<string> {
  const answers = answerColumns(all).filter(({ part }) => part !== "printed");
  const columns = tableColumns(answers, layout);
  const isLong = terminal !== null && top === Number.POSITIVE_INFINITY;
  const count = isLong && records.length > ROWS_AT_MOST ? ROWS_SHOWN : top;
  const shown = sortRecords(records, sort ?? defaultSort(answers, layout), layout).slice(0, count);
  // Without a heading, since the contract defines the headings.
  const marks = shown.some((row) => markOf(row, newIds) !== "") ? [""] : [];
  const rows = function* rows() {
    const headings = columns.map(({ heading }) => toPrintable(heading));
    const [first = "", ...others] = layout.record.map(({ name }) => name);
    yield [...headings, first, ...marks, ...others];
    for (const row of shown) {
      const mark = markOf(row, newIds);
      yield toRow(row.record, { columns, layout, marks: marks.map(() => mark) });
    }
  };
  const texts = columns.length + marks.length;
  const widest = texts + layout.record.length - 1;
  const isText = (column: number) => columns[column]?.isText ?? column > texts;
  yield* alignColumns(rows, {
    width: terminal?.width,
    shareOf: (column) => (column === widest ? 2 : Number(isText(column))),
    paint: terminal?.colours
      ? (cell, column) => paint(cell, columns[column]?.field, layout)
      : undefined,
  });
  if (terminal !== null && count < top) yield restLine(records.length, terminal);
}

/** Throws a UsageError for a field to sort by that the results do not have. */
export function checkSort(
  { sort }: { readonly sort?: string | undefined },
  columns: readonly Column[],
): void {
  const shown = columns.filter((column) => column.asked === null || column.part !== "printed");
  const names = recordNames({ columns: shown }, false);
  if (sort === undefined || names.includes(sort)) return;
  throw new UsageError(printable`--sort takes one of ${names.join(", ")}`);
}

/** Rows of cells, which are read twice, so that only one is in memory. */
export type TableRows = () => Iterable<readonly string[]>;

/** How columns are laid out. */
export interface ColumnOptions {
  /** The most columns of a line. @default no limit */
  readonly width?: number | undefined;
  /** Returns a column's share of a narrow line; columns with 0 are narrowed last. @default 0 */
  readonly shareOf?: (column: number) => number;
  /** Colours a cell without a change of width. @default the cell itself */
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

/** Narrows the widest columns, those with a share first; drops the last columns if that is not enough. */
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

// The source's headings for its own questions, and all fields of any others.
function tableColumns(
  columns: readonly AnswerColumn[],
  { answers }: TableLayout,
): readonly ShortHeading[] {
  const hasDefaults = answers.every(({ field }) => columns.some(({ name }) => name === field));
  const fixed = hasDefaults ? answers : [];
  // By question: the contract's table leaves out some of the confidences.
  const isFixed = ({ asked }: AnswerColumn) =>
    columns.some(
      (one) =>
        one.asked === asked &&
        one.part === "value" &&
        fixed.some(({ field }) => field === one.name),
    );
  const own = columns
    .filter((column) => !isFixed(column))
    .map(({ name, part, asked }) => {
      return {
        heading: name,
        field: name,
        isText: part === "value" && asked.short.form === "option",
      };
    });
  return [...fixed, ...own];
}

function defaultSort(columns: readonly AnswerColumn[], { sort }: TableLayout): string {
  if (columns.some(({ name }) => name === sort)) return sort;
  const number = columns.find(
    ({ part, asked }) => part === "value" && asked.short.form === "number",
  );
  return number?.name ?? "";
}

function markOf({ record, mark }: TableRow, newIds: ReadonlySet<string>): string {
  const isNew = newIds.has(record.id) ? ["new"] : [];
  return [...isNew, mark].filter(Boolean).join(", ");
}

/** Sorts by a field: numbers from the highest, text from A, missing values last, equals in input order. */
function sortRecords(
  rows: readonly TableRow[],
  field: string,
  { dayField }: TableLayout,
): TableRow[] {
  const valueOf = ({ record, day }: TableRow) =>
    field === dayField ? day : (record[field] ?? null);
  return rows.toSorted((one, other) => compare(valueOf(one), valueOf(other)));
}

function compare(one: string | number | null, other: string | number | null): number {
  if (typeof one === "number" && typeof other === "number") return other - one;
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return one < other ? -1 : Number(one > other);
}

function toRow(
  record: ResultRecord,
  {
    columns,
    layout,
    marks,
  }: { columns: readonly ShortHeading[]; layout: TableLayout; marks: readonly string[] },
): string[] {
  const [first = "", ...others] = layout.record.map(({ name, most }) =>
    truncateCharacters(toPrintable(String(record[name])), most),
  );
  return [...columns.map(({ field }) => toCell(record[field] ?? null)), first, ...marks, ...others];
}

function toCell(value: string | number | null): string {
  if (value === null) return "-";
  return typeof value === "number" ? value.toFixed(2) : truncateCharacters(toPrintable(value), 40);
}

function paint(cell: string, field = "", { colours }: TableLayout): string {
  const painted = Object.hasOwn(colours, field) ? colours[field] : undefined;
  if (painted === undefined || !(Number(cell) >= painted.from)) return cell;
  return styleText(painted.colour, cell, { validateStream: false });
}

function restLine(rows: number, { fileName, width }: TableTerminal): string {
  const rest = `${rows - ROWS_SHOWN} more rows: --top ${rows} prints them all; they are in `;
  return `${truncateColumns(rest + toPrintable(fileName), width ?? Number.POSITIVE_INFINITY)}\n`;
}

import { columnsOf, toPrintable, truncateCharacters, truncateColumns } from "evaluator-kit";
import { printCounted } from "../amounts.ts";
import type { TableLayout } from "../input/record-source.ts";
import type { ResultRecord } from "../output/write-records.ts";
import { type AnswerColumn, answerColumns, type Column } from "./columns.ts";

type ShortHeading = TableLayout["answers"][number];

const GAP = "  ";
/** Characters that a text column keeps on a narrow terminal before other columns shrink too. */
const NARROWEST_TEXT = 4;

/** A terminal shows 50 rows of a table with more than 200. */
const ROWS_SHOWN = 50;
const ROWS_AT_MOST = 200;

/** A result, its day, and its mark. */
export interface TableRow {
  readonly record: ResultRecord;
  readonly day: string;
  readonly mark: string;
}

interface TableOptions {
  readonly columns: readonly Column[];
  readonly layout: TableLayout;
  /** The field it is sorted by. @default importance, else the first score */
  readonly sort?: string | undefined;
  /** The records that are marked as new. @default none */
  readonly newIds?: ReadonlySet<string>;
  /** How many rows to print. @default all; on a terminal 50 when there are more than 200 */
  readonly top?: number;
  /** Whether the rows stand below an earlier table, without headings. @default no */
  readonly added?: unknown;
  /** The terminal, and the file that has every row. @default none, with rows of any width */
  readonly terminal?: {
    readonly width?: number | undefined;
    readonly fileName: string;
  } | null;
}

interface TableColumn {
  readonly heading: string;
  readonly cell: (row: TableRow) => string;
  /** Its share of a narrow line; columns with 0 are narrowed last. */
  readonly share: number;
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
    added: addedValue,
    terminal = null,
  }: TableOptions,
): Generator<string> {
  const answers = answerColumns(all).filter(({ part }) => part !== "printed");
  const isLong = terminal !== null && top === Number.POSITIVE_INFINITY;
  const count = isLong && records.length > ROWS_AT_MOST ? ROWS_SHOWN : top;
  const shownTableRows = sortRecords(records, sort ?? defaultSort(answers, layout), layout).slice(
    0,
    count,
  );
  const toMark = ({ record, mark }: TableRow) =>
    [newIds.has(record.id) ? "new" : "", mark].filter(Boolean).join(", ");
  // Without a heading, since the contract defines the headings.
  const marks = { heading: "", share: 0, cell: toMark };
  const [first = marks, ...others] = recordColumns(layout);
  const hasMarks = shownTableRows.some((row) => toMark(row) !== "");
  const columns: readonly TableColumn[] = [
    ...listHeadings(answers, layout).map(toAnswerColumn),
    first,
    ...(hasMarks ? [marks] : []),
    ...others,
  ];
  const rows = function* rows() {
    if (addedValue === undefined) yield columns.map(({ heading }) => heading);
    for (const row of shownTableRows) yield columns.map(({ cell }) => cell(row));
  };
  const { width, fileName = "" } = terminal ?? {};
  yield* alignColumns(rows, {
    width: width || undefined,
    shareOf: (at) => columns[at]?.share ?? 0,
  });
  if (terminal === null || count >= top) return;
  const rest = `${printCounted(records.length - count, "more row")}: --top ${records.length} prints them all; they are in `;
  yield `${truncateColumns(rest + toPrintable(fileName), width || Number.POSITIVE_INFINITY)}\n`;
}

function recordColumns({ record: shownItems }: TableLayout): TableColumn[] {
  return shownItems.map(({ name, most }, at) => ({
    heading: name,
    // The last is the widest.
    share: at === shownItems.length - 1 ? 2 : Math.min(at, 1),
    cell: ({ record }) => truncateCharacters(toPrintable(String(record[name])), most),
  }));
}

function toAnswerColumn({ heading, field, isText = false }: ShortHeading): TableColumn {
  const cell = ({ record }: TableRow) => {
    const value = record[field] ?? null;
    if (typeof value === "number") return value.toFixed(2);
    return value === null ? "-" : truncateCharacters(toPrintable(value), 40);
  };
  return { heading: toPrintable(heading), share: Number(isText), cell };
}

// They are read twice, so that only one is in memory.
type Rows = () => Iterable<readonly string[]>;

interface ColumnOptions {
  /** The most columns of a line. @default no limit */
  readonly width?: number | undefined;
  /** Returns a column's share of a narrow line; columns with 0 are narrowed last. @default 0 */
  readonly shareOf?: (column: number) => number;
}

/** Returns rows of printable cells laid out in columns, left-aligned, one line for each row. */
export function* alignColumns(
  rows: Rows,
  { width = Number.POSITIVE_INFINITY, shareOf = () => 0 }: ColumnOptions = {},
): Generator<string> {
  const widths = fitted(computeWidths(rows), { width, shareOf });
  for (const row of rows()) {
    const cells = widths.map((columns, column) => {
      const cell = truncateColumns(row[column] ?? "", columns);
      return cell + " ".repeat(columns - columnsOf(cell));
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

function computeWidths(rows: Rows): number[] {
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
function listHeadings(
  columns: readonly AnswerColumn[],
  { answers }: TableLayout,
): readonly ShortHeading[] {
  const hasDefaults = answers.every(({ field }) => columns.some(({ name }) => name === field));
  const fixedShortHeadings = hasDefaults ? answers : [];
  const fields = new Set(fixedShortHeadings.map(({ field }) => field));
  // By question: the contract's table leaves out some of the confidences.
  const values = columns.filter(({ name, part }) => part === "value" && fields.has(name));
  const own = columns
    .filter(({ asked: question }) => !values.some((value) => value.asked === question))
    .map(({ name, part, asked: question }) => {
      const isText = part === "value" && question.short.form === "option";
      return { heading: name, field: name, isText };
    });
  return [...fixedShortHeadings, ...own];
}

function defaultSort(columns: readonly AnswerColumn[], { sort }: TableLayout): string {
  if (columns.some(({ name }) => name === sort)) return sort;
  const number = columns.find(
    ({ part, asked: question }) => part === "value" && question.short.form === "number",
  );
  return number?.name ?? "";
}

/** Sorts by a field: numbers from the highest, text from A, missing values last, equals in input order. */
function sortRecords(
  rows: readonly TableRow[],
  field: string,
  { dayField }: TableLayout,
): TableRow[] {
  const toValue = ({ record, day }: TableRow) =>
    field === dayField ? day : (record[field] ?? null);
  return rows.toSorted((one, other) => compare(toValue(one), toValue(other)));
}

function compare(one: string | number | null, other: string | number | null): number {
  if (typeof one === "number" && typeof other === "number") return other - one;
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return one < other ? -1 : Number(one > other);
}

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
  readonly cell: (tableRow: TableRow) => string;
  /** Its share of a narrow line; columns with 0 are narrowed last. */
  readonly share: number;
}

/** Returns the lines of the table a person reads: the most important record first, input order among equals. */
export function* resultTable(
  records: readonly TableRow[],
  {
    columns: resultColumns,
    layout,
    sort,
    newIds = new Set(),
    top = Number.POSITIVE_INFINITY,
    added: addedValue,
    terminal = null,
  }: TableOptions,
): Generator<string> {
  const answers = answerColumns(resultColumns).filter(({ part }) => part !== "printed");
  const isLong = terminal !== null && top === Number.POSITIVE_INFINITY;
  const shownCount = isLong && records.length > ROWS_AT_MOST ? ROWS_SHOWN : top;
  const shownTableRows = sortRecords(records, sort ?? defaultSort(answers, layout), layout).slice(
    0,
    shownCount,
  );
  const toMark = ({ record, mark }: TableRow) =>
    [newIds.has(record.id) ? "new" : "", mark].filter(Boolean).join(", ");
  // Without a heading, since the contract defines the headings.
  const markColumn = { heading: "", share: 0, cell: toMark };
  const [firstColumn = markColumn, ...otherColumns] = recordColumns(layout);
  const hasMarks = shownTableRows.some((tableRow) => toMark(tableRow) !== "");
  const tableColumns: readonly TableColumn[] = [
    ...listHeadings(answers, layout).map(toAnswerColumn),
    firstColumn,
    ...(hasMarks ? [markColumn] : []),
    ...otherColumns,
  ];
  const textRows = function* textRows() {
    if (addedValue === undefined) yield tableColumns.map(({ heading }) => heading);
    for (const tableRow of shownTableRows) yield tableColumns.map(({ cell }) => cell(tableRow));
  };
  const { width, fileName = "" } = terminal ?? {};
  yield* alignColumns(textRows, {
    width: width || undefined,
    shareOf: (columnIndex) => tableColumns[columnIndex]?.share ?? 0,
  });
  if (terminal === null || shownCount >= top) return;
  const restText = `${printCounted(records.length - shownCount, "more row")}: --top ${records.length} prints them all; they are in `;
  yield `${truncateColumns(restText + toPrintable(fileName), width || Number.POSITIVE_INFINITY)}\n`;
}

function recordColumns({ record: shownItems }: TableLayout): TableColumn[] {
  return shownItems.map(({ name, most }, itemIndex) => ({
    heading: name,
    // The last is the widest.
    share: itemIndex === shownItems.length - 1 ? 2 : Math.min(itemIndex, 1),
    cell: ({ record }) => truncateCharacters(toPrintable(String(record[name])), most),
  }));
}

function toAnswerColumn({ heading, field, isText = false }: ShortHeading): TableColumn {
  const cell = ({ record }: TableRow) => {
    const fieldValue = record[field] ?? null;
    if (typeof fieldValue === "number") return fieldValue.toFixed(2);
    return fieldValue === null ? "-" : truncateCharacters(toPrintable(fieldValue), 40);
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
  toTextRows: Rows,
  { width = Number.POSITIVE_INFINITY, shareOf = () => 0 }: ColumnOptions = {},
): Generator<string> {
  const widths = fitted(computeWidths(toTextRows), { width, shareOf });
  for (const textRow of toTextRows()) {
    const paddedCells = widths.map((columnWidth, columnIndex) => {
      const cutCell = truncateColumns(textRow[columnIndex] ?? "", columnWidth);
      return cutCell + " ".repeat(columnWidth - columnsOf(cutCell));
    });
    yield `${paddedCells.join(GAP).trimEnd()}\n`;
  }
}

function computeWidths(toTextRows: Rows): number[] {
  const widths: number[] = [];
  for (const textRow of toTextRows()) {
    for (const [columnIndex, cellText] of textRow.entries()) {
      widths[columnIndex] = Math.max(widths[columnIndex] ?? 0, columnsOf(cellText));
    }
  }
  return widths;
}

/** Narrows the widest columns, those with a share first; drops the last columns if that is not enough. */
function fitted(
  widths: readonly number[],
  { width, shareOf }: { width: number; shareOf: (column: number) => number },
): number[] {
  const textWidths = narrowed(widths, { width, narrowest: NARROWEST_TEXT, shareOf });
  const fittedWidths = narrowed(textWidths, { width, narrowest: 1, shareOf: () => 1 });
  while (fittedWidths.length > 1 && lineWidth(fittedWidths) > width) fittedWidths.pop();
  return fittedWidths;
}

function narrowed(
  widths: readonly number[],
  options: { width: number; narrowest: number; shareOf: (column: number) => number },
): number[] {
  const { width, narrowest, shareOf } = options;
  const cutWidths = (mostColumns: number) =>
    widths.map((columns, column) => Math.min(columns, mostColumns * (shareOf(column) || columns)));
  let mostColumns = Math.max(narrowest, ...widths);
  while (mostColumns > narrowest && lineWidth(cutWidths(mostColumns)) > width) mostColumns -= 1;
  return cutWidths(mostColumns);
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
  const shortFields = new Set(fixedShortHeadings.map(({ field }) => field));
  // By question: the contract's table leaves out some of the confidences.
  const shownValues = columns.filter(({ name, part }) => part === "value" && shortFields.has(name));
  const ownHeadings = columns
    .filter(({ asked: question }) => !shownValues.some((value) => value.asked === question))
    .map(({ name, part, asked: question }) => {
      const isText = part === "value" && question.short.form === "option";
      return { heading: name, field: name, isText };
    });
  return [...fixedShortHeadings, ...ownHeadings];
}

function defaultSort(columns: readonly AnswerColumn[], { sort }: TableLayout): string {
  if (columns.some(({ name }) => name === sort)) return sort;
  const numberColumn = columns.find(
    ({ part, asked: question }) => part === "value" && question.short.form === "number",
  );
  return numberColumn?.name ?? "";
}

/** Sorts by a field: numbers from the highest, text from A, missing values last, equals in input order. */
function sortRecords(
  tableRows: readonly TableRow[],
  sortField: string,
  { dayField }: TableLayout,
): TableRow[] {
  const toValue = ({ record, day }: TableRow) =>
    sortField === dayField ? day : (record[sortField] ?? null);
  return tableRows.toSorted((firstRow, otherRow) => compare(toValue(firstRow), toValue(otherRow)));
}

function compare(one: string | number | null, other: string | number | null): number {
  if (typeof one === "number" && typeof other === "number") return other - one;
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return one < other ? -1 : Number(one > other);
}

import {
  CliError,
  describeInexact,
  InvalidArgumentError,
  isRecord,
  Option,
  printable,
  shellWord,
  withRest,
} from "evaluator-kit";
import type { InputOptions, RecordForm, RecordSource, RunRecord } from "evaluator-runs/source";
import type { JsonObject, JsonValue, Questions } from "evaluator-client";

/** Records of any kind, in CSV or JSON, as the records of runs. */
export const tableSource: RecordSource = {
  word: "record",
  program: "evaluator-cli",
  suffix: "evaluator",
  journalVariable: "EVALUATOR_JOURNAL",
  inputForm: "CSV with a header, NDJSON or a JSON array; UTF-8 or UTF-16; -: standard input",
  examples: [
    "run tickets.csv --questions q.json --state subject,body",
    "run tickets.csv --questions q.json --id number --state subject,text=body --dry-run",
  ],
  options: [
    new Option("--id <column>", "the column of unique ids").default("id"),
    new Option(
      "--state <columns>",
      "columns of the state, such as subject,body or text=body (default: all but the id)",
    ).argParser(parseStateColumns),
  ],
  readState: ({ id, state }) => toRecordColumns({ id, columns: state }),
  // Loaded late, since --help needs none of it.
  async open(path, options) {
    const { openRecords } = await import("evaluator-runs/source");
    const { readTable } = await import("evaluator-runs/table");
    return await openRecords(path, createTableForm(options, readTable), options);
  },
  columns: [],
  queryColumns: [{ name: "state", of: ({ state }) => JSON.stringify(state) }],
  table: null,
  keepStateOptions: toRecordColumns,
};

const COLUMNS_SHOWN = 20;

/** More columns than these are no state that a person wants. Chosen, not measured. */
const COLUMNS_AT_MOST = 1000;

/** Returns how a table is read, and the checks of all its records; no problem quotes a value. */
function createTableForm(
  { state: options = {}, questions, skipInvalid }: InputOptions,
  split: RecordForm<RunRecord>["split"],
): RecordForm<RunRecord> {
  const recordColumns = toRecordColumns(options);
  const seenColumns = new Set<string>();
  let firstColumns: readonly string[] = [];
  const describeMissingColumn = (
    columnName: string,
    { option, advice }: { option: string; advice: string },
  ) => {
    const meantColumn = firstColumns.find(
      (column) => normaliseName(column) === normaliseName(columnName),
    );
    const columnNames = withRest(firstColumns, COLUMNS_SHOWN).join(", ");
    const nextStep =
      meantColumn === undefined
        ? printable`there are ${columnNames}; ` + advice
        : printable`there is "${meantColumn}": ${option} ${shellWord(meantColumn)}`;
    return printable`no record has the column "${columnName}"; ` + nextStep;
  };
  return {
    split,
    check(value, inexact = []) {
      if (!isRecord(value)) return rejectRecord("is not an object; write { id, … }");
      const record = value as JsonObject;
      if (firstColumns.length === 0) firstColumns = Object.keys(record);
      noteColumns(record, recordColumns, seenColumns);
      const roundedPath = inexact.find(([column]) => isReadColumn(String(column), recordColumns));
      if (roundedPath !== undefined) return rejectRecord(describeInexact(roundedPath));
      const id = findId(record, recordColumns.id);
      if (id === undefined) return rejectRecord(`has no id; ${idAdvice}`);
      const state = findState(record, recordColumns);
      if (state !== null) return { id, record: { id, state, source: null }, problems: [] };
      const nextStep = "; fill it, or leave the record out with --skip-invalid";
      return rejectRecord(`has a blank state${skipInvalid ? "" : nextStep}`, id);
    },
    checkFile(recordCount) {
      const { id, columns } = recordColumns;
      if (recordCount === 0) return "it has no record; write CSV with a header, or NDJSON";
      if (seenColumns.size === 0) return null; // each record has its own problem
      if (!seenColumns.delete(id)) {
        const advice = `${idAdvice}, in the column that --id names`;
        return describeMissingColumn(id, { option: "--id", advice });
      }
      if (columns === null) return questions ? describeAnswerColumn(seenColumns, questions) : null;
      const unseenColumn = columns.find(([, column]) => column !== id && !seenColumns.has(column));
      if (unseenColumn === undefined) return null;
      const advice = "choose those of the state with --state";
      return describeMissingColumn(unseenColumn[1], { option: "--state", advice });
    },
  };
}

const idAdvice = "give every record its own id";

function rejectRecord(problem: string, id?: string) {
  return { id, record: null, problems: [problem] };
}

function noteColumns(
  record: JsonObject,
  { id, columns }: RecordColumns,
  seenColumns: Set<string>,
): void {
  const columnNames =
    columns === null ? Object.keys(record) : [id, ...columns.map(([, columnName]) => columnName)];
  for (const columnName of columnNames)
    if (Object.hasOwn(record, columnName)) seenColumns.add(columnName);
  if (columns !== null || seenColumns.size <= COLUMNS_AT_MOST) return;
  throw new CliError(`it has more than ${COLUMNS_AT_MOST} columns; choose some with --state A,B`);
}

function isReadColumn(column: string, { id, columns }: RecordColumns): boolean {
  return column === id || (columns?.some(([, columnName]) => columnName === column) ?? true);
}

/** Returns the id as text; undefined if there is none. */
function findId(record: JsonObject, idColumn: string): string | undefined {
  const idValue = Object.hasOwn(record, idColumn) ? record[idColumn] : undefined;
  if (typeof idValue === "string") return idValue.trim() === "" ? undefined : idValue;
  // Beyond these, two different numbers can be one.
  return typeof idValue === "number" && Number.isSafeInteger(idValue) ? String(idValue) : undefined;
}

/** A key of the state, and the column of its value. */
type StateColumn = readonly [key: string, column: string];

/** Which columns of a record are its id and its state. */
type RecordColumns = {
  readonly id: string;
  /** Null for all columns except the id. */
  readonly columns: readonly StateColumn[] | null;
};

/** Adds the columns of `subject,text=body` to those typed before. */
function parseStateColumns(
  typedText: string,
  previous: readonly StateColumn[] = [],
): readonly StateColumn[] {
  const typedStateColumns = typedText.split(",").map((columnText): StateColumn => {
    const [key = "", column = key] = columnText
      .split(/=(.*)/s, 2)
      .map((sideText) => sideText.trim());
    return [key, column];
  });
  const allColumns = [...previous, ...typedStateColumns];
  const stateKeys = new Set(allColumns.map(([key]) => key));
  if (stateKeys.size === allColumns.length && !allColumns.flat().includes("")) return allColumns;
  throw new InvalidArgumentError("Use each column once, such as subject,body or text=body.");
}

/** Returns typed or kept options with their defaults. */
function toRecordColumns(options: Readonly<Record<string, unknown>>): RecordColumns {
  const { id = "id", columns = null } = options as Partial<RecordColumns>;
  return { id, columns };
}

/** Returns the state of a record: the values that it has; null if all of them are blank. */
function findState(record: JsonObject, { id, columns }: RecordColumns): JsonObject | null {
  const usedColumns =
    columns ?? Object.keys(record).flatMap((key) => (key === id ? [] : [[key, key] as const]));
  const stateEntries = usedColumns.flatMap(([key, column]): [string, JsonValue][] => {
    const value = Object.hasOwn(record, column) ? record[column] : undefined;
    return value === undefined ? [] : [[key, value]];
  });
  return stateEntries.every(([, value]) => isBlank(value))
    ? null
    : Object.fromEntries(stateEntries);
}

function isBlank(value: JsonValue): boolean {
  return typeof value === "string" ? value.trim() === "" : value === null;
}

/** Returns the problem of a state that no one chose if a column may hold an answer; null if none may. */
function describeAnswerColumn(
  columnNames: ReadonlySet<string>,
  questions: Questions,
): string | null {
  const answerNames = new Set([...Object.keys(questions), "truth", "label"].map(normaliseName));
  const isAnswer = (columnName: string) => answerNames.has(normaliseName(columnName));
  const answerColumn = [...columnNames].find(isAnswer);
  if (answerColumn === undefined) return null;
  const otherColumns = [...columnNames].filter(
    (columnName) => !isAnswer(columnName) && !/[,=]/.test(columnName),
  );
  const example = shellWord(otherColumns.slice(0, 3).join(",") || "COLUMN");
  return printable`the column "${answerColumn}" has the answer; choose others, such as --state ${example}`;
}

function normaliseName(columnName: string): string {
  return columnName.trim().toLowerCase();
}

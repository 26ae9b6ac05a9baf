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
  inputForm:
    "CSV with a header, one JSON object a line, or a JSON array; UTF-8 or UTF-16; - reads standard input",
  examples: [
    "run tickets.csv --questions q.json --state subject,body",
    "run tickets.csv --questions q.json --id number --state subject,text=body --dry-run",
  ],
  options: [
    new Option("--id <column>", "the column of the ids, which do not repeat").default("id"),
    new Option(
      "--state <columns>",
      "the columns of the state, such as subject,body, or text=body for another key (default: all but the id)",
    ).argParser(stateColumns),
  ],
  readState: ({ id, state }) => toRecordColumns({ id, columns: state }),
  // Loaded late, since --help needs none of it.
  async open(path, options) {
    const { openRecords } = await import("evaluator-runs/source");
    const { readTable } = await import("evaluator-runs/table");
    return await openRecords(path, tableForm(options, readTable), options);
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
function tableForm(
  { state: options = {}, questions, skipInvalid }: InputOptions,
  split: RecordForm<RunRecord>["split"],
): RecordForm<RunRecord> {
  const recordColumns = toRecordColumns(options);
  const seenColumns = new Set<string>();
  let first: readonly string[] = [];
  const noColumn = (name: string, { option, advice }: { option: string; advice: string }) => {
    const meantColumn = first.find((column) => normalise(column) === normalise(name));
    const names = withRest(first, COLUMNS_SHOWN).join(", ");
    const next =
      meantColumn === undefined
        ? printable`there are ${names}; ` + advice
        : printable`there is "${meantColumn}": ${option} ${shellWord(meantColumn)}`;
    return printable`no record has the column "${name}"; ` + next;
  };
  return {
    split,
    check(value, inexact = []) {
      if (!isRecord(value)) return wrong("is not an object; write { id, … }");
      const record = value as JsonObject;
      if (first.length === 0) first = Object.keys(record);
      noteColumns(record, recordColumns, seenColumns);
      const roundedPath = inexact.find(([column]) => isRead(String(column), recordColumns));
      if (roundedPath !== undefined) return wrong(describeInexact(roundedPath));
      const id = findId(record, recordColumns.id);
      if (id === undefined) return wrong(`has no id; ${idAdvice}`);
      const state = findState(record, recordColumns);
      if (state !== null) return { id, record: { id, state, source: null }, problems: [] };
      const next = "; fill it, or leave the record out with --skip-invalid";
      return wrong(`has a blank state${skipInvalid ? "" : next}`, id);
    },
    checkFile(count) {
      const { id, columns } = recordColumns;
      if (count === 0)
        return "it has no record; write CSV with a header, or JSON with one record a line";
      if (seenColumns.size === 0) return null; // each record has its own problem
      if (!seenColumns.delete(id)) {
        const advice = `${idAdvice}, in the column that --id names`;
        return noColumn(id, { option: "--id", advice });
      }
      if (columns === null) return questions ? answerInState(seenColumns, questions) : null;
      const unseen = columns.find(([, column]) => column !== id && !seenColumns.has(column));
      if (unseen === undefined) return null;
      const advice = "choose those of the state with --state";
      return noColumn(unseen[1], { option: "--state", advice });
    },
  };
}

const idAdvice = "give every record its own id";

function wrong(problem: string, id?: string) {
  return { id, record: null, problems: [problem] };
}

function noteColumns(
  record: JsonObject,
  { id, columns }: RecordColumns,
  seenColumns: Set<string>,
): void {
  const names = columns === null ? Object.keys(record) : [id, ...columns.map(([, name]) => name)];
  for (const name of names) if (Object.hasOwn(record, name)) seenColumns.add(name);
  if (columns !== null || seenColumns.size <= COLUMNS_AT_MOST) return;
  throw new CliError(`it has more than ${COLUMNS_AT_MOST} columns; choose some with --state A,B`);
}

function isRead(column: string, { id, columns }: RecordColumns): boolean {
  return column === id || (columns?.some(([, name]) => name === column) ?? true);
}

/** Returns the id as text; undefined if there is none. */
function findId(record: JsonObject, column: string): string | undefined {
  const id = Object.hasOwn(record, column) ? record[column] : undefined;
  if (typeof id === "string") return id.trim() === "" ? undefined : id;
  // Beyond these, two different numbers can be one.
  return typeof id === "number" && Number.isSafeInteger(id) ? String(id) : undefined;
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
function stateColumns(text: string, previous: readonly StateColumn[] = []): readonly StateColumn[] {
  const typedStateColumns = text.split(",").map((part): StateColumn => {
    const [key = "", column = key] = part.split(/=(.*)/s, 2).map((side) => side.trim());
    return [key, column];
  });
  const all = [...previous, ...typedStateColumns];
  const keys = new Set(all.map(([key]) => key));
  if (keys.size === all.length && !all.flat().includes("")) return all;
  throw new InvalidArgumentError("Use columns, each once, such as subject,body or text=body.");
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
  const values = usedColumns.flatMap(([key, column]): [string, JsonValue][] => {
    const value = Object.hasOwn(record, column) ? record[column] : undefined;
    return value === undefined ? [] : [[key, value]];
  });
  return values.every(([, value]) => isBlank(value)) ? null : Object.fromEntries(values);
}

function isBlank(value: JsonValue): boolean {
  return typeof value === "string" ? value.trim() === "" : value === null;
}

/** Returns the problem of a state that no one chose if a column may hold an answer; null if none may. */
function answerInState(names: ReadonlySet<string>, questions: Questions): string | null {
  const answers = new Set([...Object.keys(questions), "truth", "label"].map(normalise));
  const isAnswer = (name: string) => answers.has(normalise(name));
  const answerColumn = [...names].find(isAnswer);
  if (answerColumn === undefined) return null;
  const others = [...names].filter((name) => !isAnswer(name) && !/[,=]/.test(name));
  const example = shellWord(others.slice(0, 3).join(",") || "COLUMN");
  return printable`it has the column "${answerColumn}", so the answer would be in the state; choose the columns of the state, such as --state ${example}`;
}

function normalise(name: string): string {
  return name.trim().toLowerCase();
}

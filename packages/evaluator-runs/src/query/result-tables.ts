import type { Cell } from "../store/run-query.ts";
import type { RunResults } from "../journal-results.ts";
import {
  answerColumns,
  type AskedQuestion,
  type ResultRow,
  shortValue,
} from "../columns/columns.ts";

type ListedRun = Awaited<ReturnType<RunResults["listRuns"]>>[number];

/** A column of a table, and how to find the cell of a row. */
interface Column<TRow> {
  readonly name: string;
  readonly type: "text" | "number" | "json";
  readonly of: (row: TRow) => Cell;
}

/** The questions and the records of the tables. */
type TableSetup = Pick<RunResults, "columns" | "source">;

const columnOfType =
  (type: Column<never>["type"]) =>
  <TRow>(name: string, of: (row: TRow) => Cell): Column<TRow> => ({ name, type, of });
const [text, number, json] = [columnOfType("text"), columnOfType("number"), columnOfType("json")];

/** Returns the tables that queries read, and functions from rows to cells; null for no row there. */
export function queryTables(tableSetup: TableSetup) {
  const { word } = tableSetup.source;
  const answers = toTable("answers", answersColumns(tableSetup));
  const listCells = (row: ResultRow) => (row.kept === null ? null : answers.cellsOf(row));
  return {
    records: [toTable(`${word}s`, recordColumns(tableSetup)), { ...answers, cellsOf: listCells }],
    runs: toTable("runs", runColumns(word)),
  };
}

function toTable<TRow>(name: string, columns: readonly Column<TRow>[]) {
  return { name, columns, cellsOf: (row: TRow) => columns.map(({ of }) => of(row)) };
}

const idColumn = text("id", ({ input }: ResultRow) => input.id);
const errorColumn = text("error", ({ record }: ResultRow) => record["error"] ?? null);

function recordColumns({ columns, source }: TableSetup): Column<ResultRow>[] {
  const ownColumns = [
    idColumn,
    ...source.queryColumns.map(({ name, of }) => text(name, ({ input }: ResultRow) => of(input))),
  ];
  const toUnique = uniqueNames([...ownColumns, errorColumn]);
  const nameOf = new Map<AskedQuestion, string>();
  const answerFields = answerColumns(columns).map(({ name, asked: question, part }) => {
    const fieldOf = ({ record }: ResultRow) => record[name] ?? null;
    const columnName = nameOf.get(question) ?? toUnique(toColumnName(question.id));
    nameOf.set(question, columnName);
    if (part === "value") return columnFor(question)(columnName, fieldOf);
    return number(toUnique(`${columnName}_${part === "confidence" ? "conf" : part}`), fieldOf);
  });
  return [...ownColumns, ...answerFields, errorColumn];
}

function columnFor({ short }: AskedQuestion) {
  return short.form === "option" ? text : number;
}

const callColumns: readonly Column<ResultRow>[] = [
  text("model", ({ kept: keptEvaluation }) => keptEvaluation?.modelId ?? null),
  number("cost_usd", ({ kept: keptEvaluation }) => keptEvaluation?.costUsd ?? null),
  number("input_tokens", ({ kept: keptEvaluation }) => keptEvaluation?.usage?.inputTokens ?? null),
  number("ms", ({ kept: keptEvaluation }) => keptEvaluation?.timing.totalMs ?? null),
];

/** Returns the columns of the answers before any calibration. */
function answersColumns({ columns }: TableSetup): Column<ResultRow>[] {
  const toUnique = uniqueNames([idColumn, ...callColumns]);
  const answers = answerColumns(columns).flatMap(({ asked: question, part }) => {
    if (part !== "value") return [];
    const { distribution } = question;
    const columnName = toUnique(toColumnName(question.id));
    const answerIn = ({ kept: keptEvaluation }: ResultRow) => keptEvaluation?.answers[question.id];
    const valueColumn = columnFor(question)(columnName, (resultRow: ResultRow) =>
      shortValue(question, answerIn(resultRow)),
    );
    if (distribution === null) return [valueColumn];
    const probabilities = (resultRow: ResultRow) => {
      const rowAnswer = answerIn(resultRow);
      return rowAnswer === undefined ? null : JSON.stringify(distribution.of(rowAnswer));
    };
    return [valueColumn, json(toUnique(`${columnName}_probabilities`), probabilities)];
  });
  return [idColumn, ...answers, ...callColumns];
}

// PostgreSQL cuts a name at 63 bytes; the rest is for suffixes.
const NAME_LENGTH = 40;

/** Returns a name that both engines accept without quotes: `needsReply` is `needs_reply`. */
function toColumnName(questionId: string): string {
  const nameWords = questionId
    .slice(0, NAME_LENGTH)
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "_")
    .replace(/^_|_$/g, "")
    .slice(0, NAME_LENGTH);
  return /^[a-z]/.test(nameWords) ? nameWords : `q_${nameWords}`;
}

/** Returns a function that adds a number to a name that is taken, and takes the name. */
function uniqueNames(otherTables: readonly { readonly name: string }[]): (name: string) => string {
  const usedNames = new Set(otherTables.map(({ name }) => name));
  return (wantedName) => {
    let freeName = wantedName;
    for (let number = 2; usedNames.has(freeName); number += 1) freeName = `${wantedName}_${number}`;
    usedNames.add(freeName);
    return freeName;
  };
}

// The finished ones of a file, or all of a database.
function runColumns(recordWord: string): Column<ListedRun>[] {
  return [
    number("run", ({ run }) => run),
    text("name", ({ name }) => name),
    text("state", ({ state }) => state),
    text("finished_at", ({ finishedAt }) => finishedAt),
    text("wire", ({ wire }) => wire),
    text("model", ({ modelId }) => modelId),
    number(`${recordWord}s`, ({ mails }) => mails),
    number("answered", ({ answered: answeredCount }) => answeredCount),
    number("failed", ({ failed: failedCount }) => failedCount),
    number("input_tokens", ({ inputTokens }) => inputTokens),
    number("cost_usd", ({ costUsd, isUnpriced }) => (isUnpriced ? null : costUsd)),
    number("elapsed_ms", ({ elapsedMs }) => elapsedMs),
  ];
}

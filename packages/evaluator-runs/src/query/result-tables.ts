import type { Cell } from "../postgres/index.ts";
import type { RunResults } from "../journal-results.ts";
import {
  type AnswerColumn,
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
  /** Its description. */
  readonly what: string;
  readonly of: (row: TRow) => Cell;
}

/** The questions and the records of the tables. */
type TableSetup = Pick<RunResults, "columns" | "source">;

const column =
  (type: Column<never>["type"]) =>
  <TRow>(name: string, what: string, of: (row: TRow) => Cell): Column<TRow> => {
    return { name, type, what, of };
  };
const [text, number, json] = [column("text"), column("number"), column("json")];

/** Returns the tables that queries read, and functions from rows to cells; null for no row there. */
export function queryTables(setup: TableSetup) {
  const { word } = setup.source;
  const answers = tableOf("answers", answersColumns(setup));
  const cellsOf = (row: ResultRow) => (row.kept === null ? null : answers.cellsOf(row));
  return {
    records: [tableOf(`${word}s`, recordColumns(setup)), { ...answers, cellsOf }],
    runs: tableOf("runs", runColumns(word)),
  };
}

function tableOf<TRow>(name: string, columns: readonly Column<TRow>[]) {
  return { name, columns, cellsOf: (row: TRow) => columns.map(({ of }) => of(row)) };
}

function idColumn(word: string): Column<ResultRow> {
  return text("id", `the ${word}'s id`, ({ input }) => input.id);
}

const errorColumn = text("error", "why there is no answer", ({ record }: ResultRow) => {
  return record["error"] ?? null;
});

function recordColumns({ columns, source }: TableSetup): Column<ResultRow>[] {
  const own = [
    idColumn(source.word),
    ...source.queryColumns.map(({ name, what, of }) => {
      return text(name, what, ({ input }: ResultRow) => of(input));
    }),
  ];
  const toUnique = uniqueNames([...own, errorColumn]);
  const nameOf = new Map<AskedQuestion, string>();
  const answers = answerColumns(columns).map(({ name, asked, part }) => {
    const of = ({ record }: ResultRow) => record[name] ?? null;
    const value = nameOf.get(asked) ?? toUnique(toColumnName(asked.id));
    nameOf.set(asked, value);
    if (part === "value") return columnFor(asked)(value, asked.short.meaning, of);
    const { end, what } = ends[part];
    return number(toUnique(`${value}_${end}`), what, of);
  });
  return [...own, ...answers, errorColumn];
}

const ends: Record<Exclude<AnswerColumn["part"], "value">, { end: string; what: string }> = {
  confidence: { end: "conf", what: "the confidence in it" },
  printed: { end: "printed", what: "the same before the calibration" },
};

function columnFor({ short }: AskedQuestion) {
  return short.form === "option" ? text : number;
}

const callColumns: readonly Column<ResultRow>[] = [
  text("model", "who answered", ({ kept }) => kept?.modelId ?? null),
  number("cost_usd", "what the call cost, where the service says it", ({ kept }) => {
    return kept?.costUsd ?? null;
  }),
  number("input_tokens", "what the model read", ({ kept }) => kept?.usage.inputTokens ?? null),
  number("ms", "how long the call took", ({ kept }) => kept?.timing.totalMs ?? null),
];

/** Returns the columns of the answers before any calibration. */
function answersColumns({ columns, source }: TableSetup): Column<ResultRow>[] {
  const id = idColumn(source.word);
  const toUnique = uniqueNames([id, ...callColumns]);
  const answers = answerColumns(columns).flatMap(({ asked, part }) => {
    if (part !== "value") return [];
    const { distribution, short } = asked;
    const name = toUnique(toColumnName(asked.id));
    const answerIn = ({ kept }: ResultRow) => kept?.answers[asked.id];
    const what = `${short.meaning}, as the model gave it`;
    const value = columnFor(asked)(name, what, (row: ResultRow) =>
      shortValue(asked, answerIn(row)),
    );
    if (distribution === null) return [value];
    const probabilities = (row: ResultRow) => {
      const answer = answerIn(row);
      return answer === undefined ? null : JSON.stringify(distribution.of(answer));
    };
    const meaning = `${distribution.meaning}, as JSON`;
    return [value, json(toUnique(`${name}_probabilities`), meaning, probabilities)];
  });
  return [id, ...answers, ...callColumns];
}

// PostgreSQL cuts a name at 63 bytes; the rest is for suffixes.
const NAME_LENGTH = 40;

/** Returns a name that both engines accept without quotes: `needsReply` is `needs_reply`. */
function toColumnName(questionId: string): string {
  const words = questionId
    .slice(0, NAME_LENGTH)
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "_")
    .replace(/^_|_$/g, "")
    .slice(0, NAME_LENGTH);
  return /^[a-z]/.test(words) ? words : `q_${words}`;
}

/** Returns a function that adds a number to a name that is taken, and takes the name. */
function uniqueNames(taken: readonly { readonly name: string }[]): (name: string) => string {
  const names = new Set(taken.map(({ name }) => name));
  return (name) => {
    let free = name;
    for (let number = 2; names.has(free); number += 1) free = `${name}_${number}`;
    names.add(free);
    return free;
  };
}

// The finished ones of a file, or all of a database.
function runColumns(word: string): Column<ListedRun>[] {
  return [
    number("run", "its number", ({ run }) => run),
    text("name", "the name of its input", ({ name }) => name),
    text("state", "done, open, stopped or loading", ({ state }) => state),
    text("finished_at", "in UTC", ({ finishedAt }) => finishedAt),
    text("wire", "through what it asked", ({ wire }) => wire),
    text("model", "the model it asked", ({ modelId }) => modelId),
    number(`${word}s`, "how many it is about", ({ mails }) => mails),
    number("answered", "how many it got", ({ answered }) => answered),
    number("failed", "how many it did not get", ({ failed }) => failed),
    number("input_tokens", "of its calls", ({ inputTokens }) => inputTokens),
    number("cost_usd", "of its calls", ({ costUsd }) => costUsd),
    number("elapsed_ms", "how long it took", ({ elapsedMs }) => elapsedMs),
  ];
}

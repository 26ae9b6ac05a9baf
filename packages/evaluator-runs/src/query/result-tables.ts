import type { Cell, QueryTable } from "../postgres/index.ts";
import type { RecordSource } from "../input/record-source.ts";
import type { ResultRow } from "../journal-results.ts";
import {
  type AnswerColumn,
  answerColumns,
  type AskedQuestion,
  type Column as ResultColumn,
  shortValue,
} from "../columns/columns.ts";

/** A column of a table, and how the cell of a row is found. */
export interface Column<TRow> {
  readonly name: string;
  readonly type: "text" | "number" | "json";
  /** What it holds, as a person reads it. */
  readonly what: string;
  readonly cellOf: (row: TRow) => Cell;
}

/** A table that queries read. */
export interface ResultTable<TRow = never> extends QueryTable {
  readonly columns: readonly Column<TRow>[];
}

/** What the tables are made of: what was asked, and about what. */
interface TableSetup {
  readonly columns: readonly ResultColumn[];
  readonly source: Pick<RecordSource, "word" | "queryColumns">;
}

/** Returns the tables with a row for each record: `mails` as they are exported, `answers` as they came. */
export function recordTables(setup: TableSetup): ResultTable<ResultRow>[] {
  return [
    { name: `${setup.source.word}s`, columns: recordColumns(setup) },
    { name: "answers", columns: answersColumns(setup) },
  ];
}

/** Returns the cells that a record has in a table; null where it has no row there. */
export function cellsOfRecord(
  row: ResultRow,
  { name, columns }: ResultTable<ResultRow>,
): readonly Cell[] | null {
  if (name === "answers" && row.kept === null) return null;
  return columns.map(({ cellOf }) => cellOf(row));
}

/** Makes a column. */
export function column<TRow>(
  name: string,
  type: Column<TRow>["type"],
  { what, of }: { readonly what: string; readonly of: (row: TRow) => Cell },
): Column<TRow> {
  return { name, type, what, cellOf: of };
}

function ownColumns({ word, queryColumns }: TableSetup["source"]): Column<ResultRow>[] {
  const own = queryColumns.map(({ name, what, of }) =>
    column<ResultRow>(name, "text", { what, of: ({ input }) => of(input) }),
  );
  return [idColumn(word), ...own];
}

function idColumn(word: string): Column<ResultRow> {
  return column("id", "text", { what: `the ${word}'s id`, of: ({ input }) => input.id });
}

const errorColumn = column<ResultRow>("error", "text", {
  what: "why there is no answer",
  of: ({ record }) => record["error"] ?? null,
});

function recordColumns({ columns, source }: TableSetup): Column<ResultRow>[] {
  const own = ownColumns(source);
  const names = new UniqueNames([...own, errorColumn]);
  const nameOf = new Map<AskedQuestion, string>();
  const answers = answerColumns(columns).map(({ name, asked, part }) => {
    const of = ({ record }: ResultRow) => record[name] ?? null;
    const value = nameOf.get(asked) ?? names.add(toColumnName(asked.id));
    nameOf.set(asked, value);
    if (part === "value") return column(value, typeOf(asked), { what: asked.short.meaning, of });
    const { end, what } = ends[part];
    return column(names.add(`${value}_${end}`), "number", { what, of });
  });
  return [...own, ...answers, errorColumn];
}

const ends: Record<Exclude<AnswerColumn["part"], "value">, { end: string; what: string }> = {
  confidence: { end: "conf", what: "the confidence in it" },
  printed: { end: "printed", what: "the same before the calibration" },
};

function typeOf({ short }: AskedQuestion): "text" | "number" {
  return short.form === "option" ? "text" : "number";
}

const callColumns: readonly Column<ResultRow>[] = [
  column("model", "text", { what: "who answered", of: ({ kept }) => kept?.modelId ?? null }),
  column("cost_usd", "number", {
    what: "what the call cost, where the service says it",
    of: ({ kept }) => kept?.costUsd ?? null,
  }),
  column("input_tokens", "number", {
    what: "what the model read",
    of: ({ kept }) => kept?.usage.inputTokens ?? null,
  }),
  column("ms", "number", {
    what: "how long the call took",
    of: ({ kept }) => kept?.timing.totalMs ?? null,
  }),
];

function answersColumns({ columns, source }: TableSetup): Column<ResultRow>[] {
  const id = idColumn(source.word);
  const names = new UniqueNames([id, ...callColumns]);
  const asked = answerColumns(columns).flatMap((one) => (one.part === "value" ? [one.asked] : []));
  return [id, ...asked.flatMap((one) => uncalibratedColumns(one, names)), ...callColumns];
}

/** Returns the columns of a question with its answer before any calibration. */
function uncalibratedColumns(asked: AskedQuestion, names: UniqueNames): Column<ResultRow>[] {
  const { id, short, distribution } = asked;
  const name = names.add(toColumnName(id));
  const value = column<ResultRow>(name, typeOf(asked), {
    what: `${short.meaning}, as the model gave it`,
    of: ({ kept }) => shortValue(asked, kept?.answers[id]),
  });
  if (distribution === null) return [value];
  const probabilities = column<ResultRow>(names.add(`${name}_probabilities`), "json", {
    what: `${distribution.meaning}, as JSON`,
    of({ kept }) {
      const answer = kept?.answers[id];
      return answer === undefined ? null : JSON.stringify(distribution.of(answer));
    },
  });
  return [value, probabilities];
}

// PostgreSQL cuts a name at 63 bytes, and there is to be room for what follows it.
const NAME_LENGTH = 40;

/** Returns a name that both engines take without quotes: `needsReply` is `needs_reply`. */
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

/** Names of columns, each given out once. */
class UniqueNames {
  readonly #taken: Set<string>;

  constructor(taken: readonly { readonly name: string }[]) {
    this.#taken = new Set(taken.map(({ name }) => name));
  }

  /** Returns the name, with a number behind it where it is taken. */
  add(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${name}_${number}`;
    this.#taken.add(free);
    return free;
  }
}

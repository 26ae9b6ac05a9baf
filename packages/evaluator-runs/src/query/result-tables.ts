import type { Cell, QueryTable, RunInfo } from "../postgres/index.ts";
import type { RunFacts } from "../journal/journal-schema.ts";
import type { RecordSource } from "../input/record-source.ts";
import type { ResultRow } from "../journal-results.ts";
import {
  type AnswerColumn,
  answerColumns,
  type AskedQuestion,
  type Column as ResultColumn,
  shortValue,
} from "../columns/columns.ts";

/** A column of a table, and how to find the cell of a row. */
interface Column<TRow> {
  readonly name: string;
  readonly type: "text" | "number" | "json";
  /** Its description. */
  readonly what: string;
  readonly of: (row: TRow) => Cell;
}

/** A table that queries read. */
interface ResultTable<TRow = never> extends QueryTable {
  readonly columns: readonly Column<TRow>[];
}

/** The questions and the records of the tables. */
interface TableSetup {
  readonly columns: readonly ResultColumn[];
  readonly source: Pick<RecordSource, "word" | "queryColumns">;
}

/** Returns the tables with a row for each record: one as exported, and `answers` before any calibration. */
export function recordTables(setup: TableSetup): ResultTable<ResultRow>[] {
  return [
    { name: `${setup.source.word}s`, columns: recordColumns(setup) },
    { name: "answers", columns: answersColumns(setup) },
  ];
}

/** Returns the cells of a record in a table; null if it has no row there. */
export function cellsOfRecord(
  row: ResultRow,
  { name, columns }: ResultTable<ResultRow>,
): readonly Cell[] | null {
  if (name === "answers" && row.kept === null) return null;
  return columns.map(({ of }) => of(row));
}

function ownColumns({ word, queryColumns }: TableSetup["source"]): Column<ResultRow>[] {
  const own = queryColumns.map(({ name, what, of }): Column<ResultRow> => {
    return { name, type: "text", what, of: ({ input }) => of(input) };
  });
  return [idColumn(word), ...own];
}

function idColumn(word: string): Column<ResultRow> {
  return { name: "id", type: "text", what: `the ${word}'s id`, of: ({ input }) => input.id };
}

const errorColumn: Column<ResultRow> = {
  name: "error",
  type: "text",
  what: "why there is no answer",
  of: ({ record }) => record["error"] ?? null,
};

function recordColumns({ columns, source }: TableSetup): Column<ResultRow>[] {
  const own = ownColumns(source);
  const names = new UniqueNames([...own, errorColumn]);
  const nameOf = new Map<AskedQuestion, string>();
  const answers = answerColumns(columns).map(({ name, asked, part }): Column<ResultRow> => {
    const of = ({ record }: ResultRow) => record[name] ?? null;
    const value = nameOf.get(asked) ?? names.add(toColumnName(asked.id));
    nameOf.set(asked, value);
    if (part === "value") {
      return { name: value, type: typeOf(asked), what: asked.short.meaning, of };
    }
    const { end, what } = ends[part];
    return { name: names.add(`${value}_${end}`), type: "number", what, of };
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
  { name: "model", type: "text", what: "who answered", of: ({ kept }) => kept?.modelId ?? null },
  {
    name: "cost_usd",
    type: "number",
    what: "what the call cost, where the service says it",
    of: ({ kept }) => kept?.costUsd ?? null,
  },
  {
    name: "input_tokens",
    type: "number",
    what: "what the model read",
    of: ({ kept }) => kept?.usage.inputTokens ?? null,
  },
  {
    name: "ms",
    type: "number",
    what: "how long the call took",
    of: ({ kept }) => kept?.timing.totalMs ?? null,
  },
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
  const value: Column<ResultRow> = {
    name,
    type: typeOf(asked),
    what: `${short.meaning}, as the model gave it`,
    of: ({ kept }) => shortValue(asked, kept?.answers[id]),
  };
  if (distribution === null) return [value];
  const probabilities: Column<ResultRow> = {
    name: names.add(`${name}_probabilities`),
    type: "json",
    what: `${distribution.meaning}, as JSON`,
    of({ kept }) {
      const answer = kept?.answers[id];
      return answer === undefined ? null : JSON.stringify(distribution.of(answer));
    },
  };
  return [value, probabilities];
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

/** Names of columns, each given out once. */
class UniqueNames {
  readonly #taken: Set<string>;

  constructor(taken: readonly { readonly name: string }[]) {
    this.#taken = new Set(taken.map(({ name }) => name));
  }

  /** Returns the name, with a number if it is taken. */
  add(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${name}_${number}`;
    this.#taken.add(free);
    return free;
  }
}

type ListedRun = Omit<RunFacts, "finishedAt" | "elapsedMs"> & {
  readonly run: number;
  readonly name: string;
  readonly state: string;
  readonly finishedAt: string | null;
  readonly elapsedMs: number | null;
};

/** Returns the table of runs: the finished ones of a file, or all of a database. */
export function runsTableOf({ word }: Pick<RecordSource, "word">): ResultTable<ListedRun> {
  return {
    name: "runs",
    columns: [
      { name: "run", type: "number", what: "its number", of: ({ run }) => run },
      { name: "name", type: "text", what: "the name of its input", of: ({ name }) => name },
      {
        name: "state",
        type: "text",
        what: "done, open, stopped or loading",
        of: (run) => run.state,
      },
      { name: "finished_at", type: "text", what: "in UTC", of: ({ finishedAt }) => finishedAt },
      { name: "wire", type: "text", what: "through what it asked", of: ({ wire }) => wire },
      { name: "model", type: "text", what: "the model it asked", of: ({ modelId }) => modelId },
      { name: `${word}s`, type: "number", what: "how many it is about", of: ({ mails }) => mails },
      { name: "answered", type: "number", what: "how many it got", of: ({ answered }) => answered },
      {
        name: "failed",
        type: "number",
        what: "how many it did not get",
        of: ({ failed }) => failed,
      },
      { name: "input_tokens", type: "number", what: "of its calls", of: (run) => run.inputTokens },
      { name: "cost_usd", type: "number", what: "of its calls", of: ({ costUsd }) => costUsd },
      { name: "elapsed_ms", type: "number", what: "how long it took", of: (run) => run.elapsedMs },
    ],
  };
}

/** Returns the rows of the runs of a journal file. */
export function runsOfFile(facts: readonly RunFacts[], name: string): ListedRun[] {
  return facts.map((run, index) => ({ ...run, run: index + 1, name, state: "done" }));
}

/** Returns the rows of the runs of a database. */
export function runsOfDatabase(runs: readonly RunInfo[]): ListedRun[] {
  return runs.map((info) => ({
    ...info,
    wire: info.setup.wire,
    modelId: info.setup.modelId,
    mails: info.records,
    answered: info.asked,
    finishedAt: info.finishedAt?.toISOString() ?? null,
    elapsedMs:
      info.finishedAt === null ? null : info.finishedAt.getTime() - info.createdAt.getTime(),
  }));
}

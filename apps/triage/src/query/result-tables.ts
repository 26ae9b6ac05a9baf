import type { Answer } from "evaluator-client";
import type { Cell, QueryTable } from "evaluator-postgres";
import { senderAddress } from "../input/mail.ts";
import type { ResultRow } from "../journal-results.ts";
import { answerValue } from "../output/triage-record.ts";
import type { AnswerField } from "../questions/answer-fields.ts";

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

/** Returns the tables with a row for each mail: `mails` as they are exported, `answers` as they came. */
export function mailTables(fields: readonly AnswerField[]): ResultTable<ResultRow>[] {
  return [
    { name: "mails", columns: mailsColumns(fields) },
    { name: "answers", columns: answersColumns(fields) },
  ];
}

/** Returns the cells that a mail has in a table; null where it has no row there. */
export function cellsOfMail(
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

const idColumn = column<ResultRow>("id", "text", {
  what: "the mail's id",
  of: (row) => row.mail.id,
});

const mailColumns: readonly Column<ResultRow>[] = [
  idColumn,
  column("date", "text", { what: "its day, as 2026-11-02", of: ({ mail }) => mail.date }),
  column("sender", "text", { what: "as the mail has it", of: ({ mail }) => mail.from }),
  column("address", "text", {
    what: "the sender's address alone",
    of: ({ mail }) => senderAddress(mail.from),
  }),
  column("subject", "text", { what: "as the mail has it", of: ({ mail }) => mail.subject }),
  column("snippet", "text", { what: "the start of its text", of: ({ mail }) => mail.snippet }),
];

const errorColumn = column<ResultRow>("error", "text", {
  what: "why there is no answer",
  of: ({ record }) => record["error"] ?? null,
});

const whatOf = {
  choice: "the option",
  score: "the mean level, from 0",
  boolean: "the probability of yes",
};

function mailsColumns(fields: readonly AnswerField[]): Column<ResultRow>[] {
  const names = new UniqueNames([...mailColumns, errorColumn]);
  const answers = fields.flatMap((field) => resultColumns(field, names));
  return [...mailColumns, ...answers, errorColumn];
}

/** The columns of a question, as its fields in the results. */
function resultColumns(asked: AnswerField, names: UniqueNames): Column<ResultRow>[] {
  const { questionId, type, field, confidenceField, printedField } = asked;
  const name = names.add(toColumnName(questionId));
  const part = (end: string, what: string, fieldName: string | null) =>
    fieldName === null
      ? []
      : [column(names.add(`${name}_${end}`), "number", { what, of: cellOfField(fieldName) })];
  return [
    column(name, type === "choice" ? "text" : "number", {
      what: whatOf[type],
      of: cellOfField(field),
    }),
    ...part("conf", "the confidence in it", confidenceField),
    ...part("printed", "the same before the calibration", printedField),
  ];
}

function cellOfField(field: string) {
  return ({ record }: ResultRow) => record[field] ?? null;
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

function answersColumns(fields: readonly AnswerField[]): Column<ResultRow>[] {
  const names = new UniqueNames([idColumn, ...callColumns]);
  const answers = fields.flatMap((field) => cameColumns(field, names));
  return [idColumn, ...answers, ...callColumns];
}

/** The columns of a question, as its answer came. */
function cameColumns({ questionId, type }: AnswerField, names: UniqueNames): Column<ResultRow>[] {
  const name = names.add(toColumnName(questionId));
  const answerOf = ({ kept }: ResultRow) => kept?.answers[questionId];
  const value = column<ResultRow>(name, type === "choice" ? "text" : "number", {
    what: `${whatOf[type]}, as it came`,
    of: (row) => answerValue(answerOf(row)),
  });
  if (type === "boolean") return [value];
  const probabilities = column<ResultRow>(names.add(`${name}_probabilities`), "json", {
    what: `of each ${type === "choice" ? "option" : "level"}, as JSON`,
    of: (row) => probabilitiesOf(answerOf(row)),
  });
  return [value, probabilities];
}

function probabilitiesOf(answer: Answer | undefined): Cell {
  if (answer === undefined || answer.type === "boolean") return null;
  return JSON.stringify(answer.probabilities);
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

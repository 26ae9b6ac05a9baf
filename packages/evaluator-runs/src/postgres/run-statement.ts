import type { ClientBase, QueryArrayConfig } from "pg";
import { DatabaseError, toDatabaseError } from "./database-error.ts";

/** A value of a row. */
export type Cell = string | number | boolean | null;

/**
 * Runs one statement that a person wrote.
 *
 * @param start - The index of their text in it.
 * @throws DatabaseError with the problem and its place.
 */
export async function runStatement(client: ClientBase, text: string, start: number) {
  try {
    const { fields, rows } = await client.query<Cell[]>(toConfig(text));
    return { names: fields.map(({ name }) => name), rows };
  } catch (error) {
    throw toQueryError(error, start);
  }
}

function toConfig(text: string): QueryArrayConfig {
  return {
    text,
    rowMode: "array",
    // Otherwise a text may have several statements, and one could end the transaction.
    queryMode: "extended",
    types: { getTypeParser: ((type: number) => cellParsers[type] ?? String) as never },
  } as QueryArrayConfig;
}

/** Parsers of texts by the number of their PostgreSQL type; other types stay texts. */
export const cellParsers: Readonly<Record<number, (text: string) => Cell>> = {
  16: (text) => text === "t",
  20: toNumber,
  21: toNumber,
  23: toNumber,
  700: toNumber,
  701: toNumber,
  1700: toNumber,
};

function toNumber(text: string): Cell {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/**
 * Converts an error of `pg` about a person's statement. Keeps PostgreSQL's message about its words, but
 * not about values, which it quotes.
 */
export function toQueryError(error: unknown, start: number): DatabaseError {
  const failure = toDatabaseError(error);
  const code = failure.code ?? "";
  if (code === "57014") return tookTooLong(code);
  const problem = problemsOf(toldBy(error, start)).find(([codes]) => codes.test(code))?.[1];
  if (problem === undefined) return failure;
  return new DatabaseError(`${problem} (code ${code})`, { failure: "query", code });
}

/** Returns the error of a query that did not end in time. */
export function tookTooLong(code: string | null): DatabaseError {
  return new DatabaseError("The query took too long.", { failure: "query-time", code });
}

function problemsOf(message: string): readonly (readonly [RegExp, string])[] {
  return [
    [/^25006$/, `The query would write, and a query only reads: ${message}.`],
    [/^42501$/, `The query reads what this user may not: ${message}.`],
    [/^(?:42|0A|25)/, `The query is not one that PostgreSQL takes: ${message}.`],
    [
      /^(?:21|22)/,
      "A value does not fit what the query does with it; a cast or a condition helps.",
    ],
    [/^(?:54|XX000)/, "The query is more than the server takes. Ask for less of it."],
  ];
}

// The position is counted from 1, over the whole statement.
function toldBy(error: unknown, start: number): string {
  const { message = "", position = "", hint = "" } = Object(error) as Record<string, string>;
  const at = Number(position) - start;
  const where = at > 0 ? ` at character ${at}` : "";
  return `${message}${where}${hint === "" ? "" : `. ${hint.replace(/\.$/, "")}`}`;
}

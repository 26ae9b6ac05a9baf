import { stringify } from "csv-stringify/sync";
import { type FileContent, toFileError, toPrintable, writeWholeFile } from "evaluator-kit";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { OutputFormat } from "../options.ts";

/**
 * One output record: its id, the columns of its source, then for each question its option, mean
 * level or probability, and its confidence (contract section 4.7).
 */
export interface ResultRecord {
  readonly id: string;
  /** Null when the service gave none. */
  readonly [field: string]: string | number | null;
}

/**
 * Writes the results, all of them or none.
 *
 * @throws CliError when they cannot be written; an older file is still there then.
 */
export async function writeRecords(
  path: string,
  records: Records,
  { format, names }: RecordsFormat,
): Promise<void> {
  await writePrivateFile(path, formatRecords(records, { format, names })).catch(
    (error: unknown) => {
      throw toFileError(
        error,
        `write ${path}`,
        "Nothing was written, and every answer is kept; make room there and run again.",
      );
    },
  );
}

/** Writes a whole file with texts of mails, for its owner alone, also if the one before was not. */
export async function writePrivateFile(path: string, content: FileContent): Promise<void> {
  await writeWholeFile(path, content, { mode: 0o600 });
}

/** Records in input order; they may be more than memory holds. */
export type Records = Iterable<ResultRecord> | AsyncIterable<ResultRecord>;

/** Records with any fields. */
type FieldRecords = Iterable<Fields> | AsyncIterable<Fields>;
type Fields = Readonly<Record<string, Cell>>;

/** How records are written. */
export interface RecordsFormat {
  readonly format: OutputFormat;
  /** The names of all fields, in order; a CSV has one column for each. */
  readonly names: readonly string[];
}

const writers = {
  json: toJsonArray,
  ndjson: toJsonLines,
  csv: toCsv,
} satisfies Record<
  OutputFormat,
  (records: FieldRecords, names: RecordsFormat["names"]) => AsyncGenerator<string>
>;

/** Returns the text of a results file, piece by piece. */
export function formatRecords(
  records: FieldRecords,
  { format, names }: RecordsFormat,
): AsyncGenerator<string> {
  return writers[format](records, names);
}

// Formulas of spreadsheets; the library's list lacks the full-width signs.
const formulaStart = /^['"]?[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/u;
const cast = { string: toCell };

/** Returns the text of a CSV file: a header, then a row for each record; no cell is a formula. */
async function* toCsv(records: FieldRecords, names: readonly string[]): AsyncGenerator<string> {
  let rows: (readonly Cell[])[] = [names];
  let characters = 0;
  for await (const record of records) {
    const row = names.map((name) => record[name] ?? null);
    rows.push(row);
    characters += row.reduce<number>((sum, cell) => sum + String(cell).length, 0);
    if (rows.length < ROWS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue;
    yield stringify(rows, { cast });
    [rows, characters] = [[], 0];
  }
  if (rows.length > 0) yield stringify(rows, { cast });
}

type Cell = string | number | boolean | null;

// Row by row the library takes twice the time, for its options.
const ROWS_AT_ONCE = 100;
// A row of a query has up to two million: a hundred of them would take hundreds of MB.
const CHARACTERS_AT_ONCE = 1_000_000;

function toCell(text: string): string {
  const plain = toPrintable(text);
  return formulaStart.test(plain) ? `'${plain}` : plain;
}

const END = "\n]";

/** Returns the text of a JSON array, one piece for each item, indented by two. */
export async function* toJsonArray(
  items: Iterable<unknown> | AsyncIterable<unknown>,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const item of items) {
    // JSON.stringify indents the item inside an array.
    const array = JSON.stringify([item], null, 2);
    yield isFirst ? array.slice(0, -END.length) : `,${array.slice(1, -END.length)}`;
    isFirst = false;
  }
  yield isFirst ? "[]\n" : `${END}\n`;
}

/** Returns the text of a file with one JSON value a line. */
async function* toJsonLines(
  items: Iterable<unknown> | AsyncIterable<unknown>,
): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}

// Line breaks stay: between the values of JSON they are layout, and in them there are none.
const unprintable = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes control characters in JSON, so that it is safe to print. */
function withEscapes(json: string): string {
  return json.replace(unprintable, escaped);
}

/** Escapes control characters in texts of JSON; CSV has none. */
export async function* toSafeTexts(
  texts: AsyncIterable<string>,
  { format }: Pick<RecordsFormat, "format">,
): AsyncGenerator<string> {
  for await (const text of texts) yield format === "csv" ? text : withEscapes(text);
}

/** Returns one call's answers and provider metadata under the mail's id: a line of JSON safe to print. */
export function toRawLine(id: string, { answers, providerMetadata }: KeptEvaluation): string {
  const json = JSON.stringify({ id, answers, providerMetadata });
  return `${withEscapes(json)}\n`;
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

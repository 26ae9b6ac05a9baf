import { stringify } from "csv-stringify/sync";
import { toPrintable } from "evaluator-kit";
import type { OutputFormat } from "../shared-options.ts";

/**
 * One output record: its id, the columns of its source, then for each question its option, mean
 * level or probability, and its confidence (contract section 4.7).
 */
export interface ResultRecord {
  readonly id: string;
  /** Null when the service gave none. */
  readonly [field: string]: string | number | null;
}

// Records may be more than memory holds.
type Items<TItem> = Iterable<TItem> | AsyncIterable<TItem>;
type Fields = Readonly<Record<string, unknown>>;

interface RecordsFormat {
  readonly format: OutputFormat;
  /** The names of all fields, in order; a CSV has one column for each. */
  readonly names: readonly string[];
}

/** Returns the text of a results file, piece by piece. */
export function formatRecords(
  records: Items<Fields>,
  { format, names }: RecordsFormat,
): AsyncGenerator<string> {
  if (format === "csv") return toCsv(records, names);
  return format === "json" ? toJsonArray(records) : toJsonLines(records);
}

// Formulas of spreadsheets; the library's list lacks the full-width signs.
const formulaStart = /^['"]?[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/u;
const cast = { string: toCell };

/** Returns the text of a CSV file: a header, then a row for each record; no cell is a formula. */
async function* toCsv(records: Items<Fields>, names: readonly string[]): AsyncGenerator<string> {
  yield stringify([names], { cast });
  for await (const record of records) {
    yield stringify([names.map((name) => record[name] ?? null)], { cast });
  }
}

function toCell(text: string): string {
  const plain = toPrintable(text);
  return formulaStart.test(plain) ? `'${plain}` : plain;
}

const END = "\n]";

/**
 * Returns the text of a JSON array, one piece for each item, indented by two.
 */
export async function* toJsonArray(items: Items<unknown>): AsyncGenerator<string> {
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
async function* toJsonLines(items: Items<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}

// Line breaks stay: between the values of JSON they are layout, and in them there are none.
const unprintable = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes control characters in JSON, so that it is safe to print. */
function withEscapes(json: string): string {
  return json.replace(unprintable, (character) => {
    const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16));
    return units.map((unit) => `\\u${unit.padStart(4, "0")}`).join("");
  });
}

/** Escapes control characters in texts of JSON; CSV has none. */
export async function* toSafeTexts(
  texts: AsyncIterable<string>,
  { format }: Pick<RecordsFormat, "format">,
): AsyncGenerator<string> {
  for await (const text of texts) yield format === "csv" ? text : withEscapes(text);
}
